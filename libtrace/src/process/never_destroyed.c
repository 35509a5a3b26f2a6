/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flusher's thread works until the process is gone, long after the destructors of static
 * objects such as Asio's error categories. So nothing in this library is ever destroyed: the
 * linker's option --wrap redirects each registration of a destructor here. The library is never
 * unloaded either.
 */

int __wrap___cxa_atexit(void (*destroy)(void*), void* object, void* library);

int __wrap___cxa_atexit(void (*destroy)(void*), void* object, void* library) {
  (void)destroy;
  (void)object;
  (void)library;
  return 0;
}
