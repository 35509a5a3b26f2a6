/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a program, this lets pthread_create fail, as for a user without free threads,
 * while the file exists that the variable NO_THREADS names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int pthread_create(pthread_t* restrict thread, const pthread_attr_t* restrict attributes,
                   void* (*run)(void*), void* restrict argument) {
  int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(RTLD_NEXT,
                                                                                 "pthread_create");
  const char* file = getenv("NO_THREADS");
  if (file != NULL && access(file, F_OK) == 0) return errno = EAGAIN; /* as clone() */
  return next(thread, attributes, run, argument);
}
