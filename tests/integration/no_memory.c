/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a program, this lets every request for memory fail while the file exists that the
 * variable NO_MEMORY names.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The C library's functions, by names that need no dlsym, which takes memory. */
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* old, size_t size);

static int there_is_none(void) {
  const char* file = getenv("NO_MEMORY");
  const int before = errno;
  const int none = file != NULL && access(file, F_OK) == 0;
  errno = none ? ENOMEM : before;
  return none;
}

void* malloc(size_t size) { return there_is_none() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) {
  return there_is_none() ? NULL : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) { return there_is_none() ? NULL : __libc_realloc(old, size); }
