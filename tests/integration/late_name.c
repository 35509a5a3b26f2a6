/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into record, this gives its witness little of the processor: the witness gets its name
 * late.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int prctl(int option, ...) {
  unsigned long more[4];
  va_list arguments;
  int i;
  va_start(arguments, option);
  for (i = 0; i < 4; i++) more[i] = va_arg(arguments, unsigned long);
  va_end(arguments);
  if (option == PR_SET_NAME) usleep(200000); /* load: a busy machine */
  return (int)syscall(SYS_prctl, option, more[0], more[1], more[2], more[3]);
}
