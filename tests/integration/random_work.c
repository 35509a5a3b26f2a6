/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program whose work varies by chance, as a service's does: random_work SEED SECONDS ROUNDS
 *
 * Each round is a request: it parses (computes), asks (waits), sometimes fails, and counts bytes.
 * One in fifty is ten times as long. Ends after SECONDS or ROUNDS, whichever comes first.
 */
#include <math.h>
#include <pcp/trace.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static uint64_t state;
static volatile double result; /* keeps the compiler from dropping the computation */

/* From 0 to 1. */
static double chance(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) / 9007199254740992.0;
}

/* Exponential, with this mean. */
static double around(double mean) { return -mean * log(1 - chance()); }

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double compute(double steps) {
  double sum = 0;
  for (long i = 0; i < (long)steps; i++) sum += sqrt((double)i);
  return sum;
}

static void wait_for(double seconds) {
  const struct timespec time = {0, (long)(seconds * 1e9) % 900000000};
  nanosleep(&time, NULL); /* load: the work of the program */
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  state = strtoull(argv[1], NULL, 10) * 2654435761u + 88172645463325252u;
  const double end = now() + atof(argv[2]);
  for (long left = atol(argv[3]); left > 0 && now() < end; left--) {
    const double size = chance() < 0.02 ? 10 : 1;
    pmtracebegin("request");
    pmtracebegin("parse");
    result = compute(size * (20000 + around(20000)));
    pmtraceend("parse");
    pmtracebegin("ask");
    wait_for(size * around(0.001));
    pmtraceend("ask");
    if (chance() < 0.03)
      pmtraceabort("request");
    else
      pmtraceend("request");
    pmtraceobs("queue", floor(around(5)));
    pmtraceadd("bytes", floor(around(1000)));
  }
  return 0;
}
