/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A job that imports made-up files, traced by name: each call looks its tag up, so nothing has to
 * be prepared.
 *
 *   import_job SECONDS
 *
 * Look at the distribution of the files' sizes, and at the number of bad rows:
 *
 *   pminfo -f trace.observe.p50 trace.observe.p99 trace.point.count trace.transact.aborts
 */
#include <pcp/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int one_in(int n) { return rand() % n == 0; }

/* Gives the number of rows. */
static int import_file(void) {
  const int rows = 10 + rand() % 90 * (one_in(20) ? 10 : 1);
  const struct timespec per_row = {0, 20 * 1000};
  int row;
  pmtracebegin("import-file");
  pmtraceobs("file-rows", rows);
  for (row = 0; row < rows; row++) {
    nanosleep(&per_row, NULL);
    if (one_in(1000)) pmtracepoint("bad-row");
  }
  if (one_in(50))
    pmtraceabort("import-file"); /* it was imported before */
  else
    pmtraceend("import-file");
  return rows;
}

int main(int argc, char** argv) {
  const double seconds = argc == 2 ? atof(argv[1]) : 0;
  const double end = now() + seconds;
  double rows = 0;
  long files;
  if (seconds <= 0) {
    fputs("Usage: import_job SECONDS\n", stderr);
    return 2;
  }
  for (files = 0; now() < end; files++) {
    rows += import_file();
    pmtracecounter("rows-total", rows); /* only grows: PCP makes a rate of it */
  }
  printf("served %ld files\n", files);
  return 0;
}
