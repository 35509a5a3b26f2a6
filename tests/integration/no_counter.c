/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a program, this hides that the kernel keeps time by the processor's time-stamp
 * counter.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

int open(const char* path, int flags, ...) {
  int (*next)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  va_list rest;
  mode_t mode;
  va_start(rest, flags);
  mode = va_arg(rest, mode_t);
  va_end(rest);
  if (strstr(path, "current_clocksource") != NULL) path = "/dev/null";
  return next(path, flags, mode);
}
