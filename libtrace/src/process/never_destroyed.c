/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flusher's thread works until the process is gone, when the destructors of static objects have
 * long run; and Asio's error categories are such objects. So nothing in this library is ever
 * destroyed: the linker's option --wrap brings each registration of a destructor here. Nor is the
 * library ever unloaded.
 */

int __wrap___cxa_atexit(void (*destroy)(void*), void* object, void* library);

int __wrap___cxa_atexit(void (*destroy)(void*), void* object, void* library) {
  (void)destroy;
  (void)object;
  (void)library;
  return 0;
}
