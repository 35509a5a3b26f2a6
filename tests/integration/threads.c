/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * threads THREADS CALLS point|transaction: each thread makes CALLS calls with the tag "shared", the
 * first ones at the same moment. Prints the number of failed calls.
 */
#include <pcp/trace.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t all_ready;
static atomic_long errors;
static long calls;
static int transactions;

static void* run(void* unused) {
  long made, failed = 0;
  (void)unused;
  pthread_barrier_wait(&all_ready);
  for (made = 0; made < calls; made++) {
    if (transactions) {
      failed += pmtracebegin("shared") != 0;
      failed += pmtraceend("shared") != 0;
    } else {
      failed += pmtracepoint("shared") != 0;
    }
  }
  atomic_fetch_add(&errors, failed);
  return NULL;
}

int main(int argc, char** argv) {
  int started, number = argc > 1 ? atoi(argv[1]) : 0;
  pthread_t* threads = calloc((size_t)number, sizeof *threads);
  if (argc != 4 || number < 1 || threads == NULL) return 2;
  calls = atol(argv[2]);
  transactions = strcmp(argv[3], "transaction") == 0;
  pthread_barrier_init(&all_ready, NULL, (unsigned)number);
  for (started = 0; started < number; started++)
    if (pthread_create(&threads[started], NULL, run, NULL) != 0) return 2;
  for (started = 0; started < number; started++) pthread_join(threads[started], NULL);
  free(threads);
  printf("%ld\n", atomic_load(&errors));
  return 0;
}
