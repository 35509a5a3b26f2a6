/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * killed LOG THREADS PARTS: threads with one request after the other, "request 0" and so on, each
 * with up to 50 parts one after the other. A signal kills the process when the first thread has
 * ended so many parts. LOG is a file that outlives it, with a number for each thread: the ended
 * parts of the request that is open there, or -1 while it begins or ends.
 */
#include <fcntl.h>
#include <pcp/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kMostThreads = 16, kMostParts = 50 };

static volatile int32_t* ended; /* of each thread */
static long parts_left;
static pthread_barrier_t start;

static void* run(void* argument) {
  const intptr_t number = (intptr_t)argument;
  const pmtrace_handle part = pmtrace_tag("part");
  unsigned dice = (unsigned)number;
  pmtrace_handle request;
  char tag[16];
  snprintf(tag, sizeof tag, "request %d", (int)number);
  request = pmtrace_tag(tag);
  pthread_barrier_wait(&start);
  for (;;) {
    pmtrace_tx tx, inner;
    const int parts = rand_r(&dice) % kMostParts;
    ended[number] = -1;
    pmtrace_begin(request, &tx);
    for (ended[number] = 0; ended[number] < parts; ++ended[number]) {
      if (number == 0 && parts_left-- == 0) raise(SIGKILL);
      pmtrace_begin(part, &inner);
      pmtrace_end(&inner);
    }
    ended[number] = -1;
    pmtrace_end(&tx);
  }
  return NULL;
}

int main(int argc, char* argv[]) {
  const intptr_t threads = argc == 4 ? atoi(argv[2]) : 0;
  const int fd =
      threads > 0 && threads <= kMostThreads ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
  const size_t bytes = (size_t)threads * sizeof *ended;
  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) return 1;
  ended = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  parts_left = atol(argv[3]);
  pmtracepoint("begins");
  if (ended == MAP_FAILED || pmtrace_flush(-1) != 1) return 1; /* the agent is there */
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (intptr_t i = 0; i < threads; ++i) ended[i] = -1;
  for (intptr_t i = threads - 1; i > 0; --i) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, (void*)i);
  }
  run((void*)0);
}
