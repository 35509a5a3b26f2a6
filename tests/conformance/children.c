/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Like pre-fork servers and Python's multiprocessing: children that trace and leave by _exit. Built
 * once for the stock library and once for ours. Five children at a time, because the stock agent
 * refuses more.
 */
#include <pcp/trace.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(void) {
  int i;
  int error = 0;
  for (i = 0; i < 7; i++) error |= pmtracepoint("child");
  return error != 0;
}

int main(void) {
  int round;
  int child;
  int status;
  int failed = 0;
  for (round = 0; round < 10; round++) {
    for (child = 0; child < 5; child++)
      if (fork() == 0) _exit(work());
    while (wait(&status) > 0) failed |= status;
  }
  return failed != 0;
}
