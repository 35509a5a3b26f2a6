/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a program, this lets fsync() hang like a dead disk, as long as the directory that
 * the variable HANGING_FSYNC names has a file "hang". It makes a file "hanging" there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int fsync(int fd) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  const char* directory = getenv("HANGING_FSYNC");
  char hang[PATH_MAX];
  char hanging[PATH_MAX];
  if (directory == NULL) return next(fd);
  snprintf(hang, sizeof hang, "%s/hang", directory);
  snprintf(hanging, sizeof hanging, "%s/hanging", directory);
  if (access(hang, F_OK) == 0) close(open(hanging, O_WRONLY | O_CREAT, 0644));
  while (access(hang, F_OK) == 0) usleep(20000); /* poll: the file's end */
  return next(fd);
}
