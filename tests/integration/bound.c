/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The main thread binds itself to one processor before its first call; with the word "real-time" it
 * also asks for SCHED_FIFO. Ends with its input.
 */
#define _GNU_SOURCE
#include <pcp/trace.h>
#include <sched.h>
#include <stdio.h>

int main(int argc, char** argv) {
  const struct sched_param least = {1};
  cpu_set_t all, one;
  int processor = 0;
  (void)argv;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return 2;
  while (!CPU_ISSET(processor, &all)) processor++;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return 3;
  if (argc > 1 && sched_setscheduler(0, SCHED_FIFO, &least) != 0) return 4;
  pmtracepoint("bound");
  puts("traced");
  fflush(stdout);
  while (getchar() != EOF) continue;
  return 0;
}
