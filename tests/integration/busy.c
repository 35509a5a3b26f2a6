/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces all the time in as many threads as the argument says, and keeps account of its calls.
 * Obeys lines on standard input:
 *
 *   stats   prints the library's statistics, and the calls of the slowest thread
 *   rest    lets the threads pause, and prints "resting"
 *   flush   prints whether all was delivered within a minute: 1 or 0
 *
 * At the end of the input the threads end, the library delivers the rest, and the program prints
 * its account: the calls of each kind, and the sum of the observed values.
 */
#include <limits.h>
#include <pcp/trace.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMaxThreads = 64, kCallsAtOnce = 20, kPatienceSeconds = 60 };

struct worker {
  pthread_t thread;
  atomic_int is_resting;
  volatile unsigned long calls; /* of each kind; other threads read it meanwhile */
  unsigned long observed_sum;
};

static struct worker workers[kMaxThreads];
static int worker_count;
static atomic_int must_rest, must_end;

static void pause_a_little(void) {
  const struct timespec pause = {0, 3000 * 1000};
  nanosleep(&pause, NULL); /* load: between calls; poll: until all rest */
}

static void call_everything(struct worker* self, unsigned long value) {
  pmtracepoint("busy point");
  pmtraceobs("busy observation", (double)value);
  pmtracecounter("busy counter", (double)(self->calls + 1));
  pmtracebegin("busy transaction");
  pmtraceend("busy transaction");
  self->calls++;
  self->observed_sum += value;
}

static void* work(void* argument) {
  struct worker* self = argument;
  unsigned long value = 0;
  int i;
  while (!must_end) {
    self->is_resting = must_rest;
    for (i = 0; i < kCallsAtOnce && !must_rest; i++) call_everything(self, value++ % 1000);
    pause_a_little();
  }
  return NULL;
}

static void print_stats(void) {
  unsigned long fewest = ULONG_MAX;
  pmtrace_stats_t stats;
  int i;
  for (i = 0; i < worker_count; i++)
    if (workers[i].calls < fewest) fewest = workers[i].calls;
  pmtrace_stats(&stats, sizeof stats);
  printf("recorded %lu acknowledged %lu pending %lu uncertain %lu connected %d fewest %lu\n",
         (unsigned long)stats.recorded, (unsigned long)stats.acknowledged,
         (unsigned long)stats.pending, (unsigned long)stats.uncertain, (int)stats.connected,
         fewest);
}

static void rest(void) {
  int i;
  must_rest = 1;
  for (i = 0; i < worker_count; i++)
    while (!workers[i].is_resting) pause_a_little();
  puts("resting");
}

static void print_totals(void) {
  unsigned long calls = 0, observed_sum = 0;
  int i;
  for (i = 0; i < worker_count; i++) {
    calls += workers[i].calls;
    observed_sum += workers[i].observed_sum;
  }
  printf("calls %lu observed_sum %lu\n", calls, observed_sum);
}

int main(int argc, char** argv) {
  char line[32];
  int i;
  worker_count = argc > 1 ? atoi(argv[1]) : 1;
  if (worker_count < 1 || worker_count > kMaxThreads) return 2;
  pmtracestate(PMTRACE_STATE_ASYNC);
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (i = 0; i < worker_count; i++)
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) return 2;
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (strcmp(line, "stats\n") == 0) {
      print_stats();
    } else if (strcmp(line, "rest\n") == 0) {
      rest();
    } else if (strcmp(line, "flush\n") == 0) {
      printf("%d\n", pmtrace_flush(kPatienceSeconds));
    }
  }
  must_end = 1;
  for (i = 0; i < worker_count; i++) pthread_join(workers[i].thread, NULL);
  pmtrace_flush(kPatienceSeconds);
  print_totals();
  return 0;
}
