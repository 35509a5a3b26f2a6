/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * killed LOG THREADS PARTS: threads with one request after the other, each with up to 50 parts one
 * after the other. A signal kills the process when the first thread has ended so many parts. LOG is
 * a file that outlives it: for each thread a line of 64 bytes,
 *
 *   TRACEPARENT PARTS
 *
 * of the request that is open there and its ended parts; or empty, if it was beginning or ending.
 */
#include <fcntl.h>
#include <pcp/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kLine = 64, kMostThreads = 16, kMostParts = 50, kDigits = 6 };

static char* all_lines;
static long parts_left;
static pthread_barrier_t start;

static void note_parts(volatile char* line, int parts) {
  volatile char* digit = line + PMTRACE_CONTEXT_SIZE + kDigits;
  for (int i = 0; i < kDigits; ++i, parts /= 10) *--digit = (char)('0' + parts % 10);
}

static void* run(void* argument) {
  const intptr_t number = (intptr_t)argument;
  volatile char* const line = all_lines + number * kLine;
  const pmtrace_handle request = pmtrace_tag("request"), part = pmtrace_tag("part");
  unsigned dice = (unsigned)number;
  pthread_barrier_wait(&start);
  for (;;) {
    char traceparent[PMTRACE_CONTEXT_SIZE];
    pmtrace_tx tx, inner;
    const int parts = rand_r(&dice) % kMostParts;
    pmtrace_begin(request, &tx);
    pmtrace_context(&tx, traceparent, sizeof traceparent);
    note_parts(line, 0);
    for (int i = PMTRACE_CONTEXT_SIZE - 1; i >= 0; --i) line[i] = i < 55 ? traceparent[i] : ' ';
    for (int i = 1; i <= parts; ++i) {
      pmtrace_begin(part, &inner);
      pmtrace_end(&inner);
      note_parts(line, i);
      if (number == 0 && --parts_left == 0) raise(SIGKILL);
    }
    line[0] = '\0';
    pmtrace_end(&tx);
  }
  return NULL;
}

int main(int argc, char* argv[]) {
  const intptr_t threads = argc > 3 ? atoi(argv[2]) : 0;
  const int fd =
      threads > 0 && threads <= kMostThreads ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
  if (fd < 0 || ftruncate(fd, threads * kLine) != 0) return 1;
  all_lines = mmap(NULL, (size_t)(threads * kLine), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  parts_left = atol(argv[3]);
  pmtracepoint("begins");
  if (all_lines == MAP_FAILED || pmtrace_flush(-1) != 1) return 1; /* the agent is there */
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (intptr_t i = threads - 1; i > 0; --i) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, (void*)i);
  }
  run((void*)0);
}
