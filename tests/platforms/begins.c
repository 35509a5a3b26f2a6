/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Begins and ends so many transactions, by handle and by name, and prints how often this thread
 * looked at the C library's clock meanwhile. Before that it does the same until it has not looked
 * at it for a while, or for long enough.
 */
#define _GNU_SOURCE
#include <pcp/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local long looks;

/* In the place of the C library's, for the library, too. */
int clock_gettime(clockid_t clock, struct timespec* now) {
  ++looks;
  return (int)syscall(SYS_clock_gettime, clock, now);
}

static long looks_of(long count) {
  const pmtrace_handle tag = pmtrace_tag("handled");
  const long before = looks;
  pmtrace_tx tx;
  for (long i = 0; i < count; ++i)
    if (pmtrace_begin(tag, &tx) != 0 || pmtrace_end(&tx) != 0 || pmtracebegin("named") != 0 ||
        pmtraceend("named") != 0)
      exit(1);
  return looks - before;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1;
  for (int i = 0; i < 100 && looks_of(count) != 0; ++i) pmtrace_flush(60);
  printf("%ld\n", looks_of(count));
  return 0;
}
