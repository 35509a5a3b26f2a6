/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program with two phases by turns, in which one step takes nearly all the time: planted_change
 * ROUNDS WHAT FACTOR
 *
 * The factor makes more calls, time or failures, or a lower rate: WHAT. Nothing varies by chance.
 */
#include <pcp/trace.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void wait_for(double seconds) {
  const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL); /* load: the work of the program */
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const char* what = argv[2];
  const double factor = atof(argv[3]);
  const double calls = strcmp(what, "calls") == 0 ? factor : 1;
  const double time = strcmp(what, "time") == 0 ? factor : 1;
  const double failures = strcmp(what, "failures") == 0 ? 0.2 * factor : 0.2;
  double calls_due = 0;
  double failures_due = 0;
  for (long round = 0; round < atol(argv[1]); round++) {
    const double begin = now();
    const double length = time * (round / 50 % 2 ? 0.005 : 0.001) * (double)(1 + round % 3);
    pmtracebegin("request");
    for (calls_due += calls; calls_due >= 1; calls_due--) {
      pmtracebegin("query");
      wait_for(length);
      pmtraceend("query");
    }
    failures_due += failures;
    if (failures_due >= 1) {
      failures_due--;
      pmtraceabort("request");
    } else {
      pmtraceend("request");
    }
    if (strcmp(what, "rate") == 0) wait_for((factor - 1) * (now() - begin));
  }
  return 0;
}
