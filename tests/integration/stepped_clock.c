/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a program, this lets the program step its own clocks: every read of
 * CLOCK_REALTIME, by any call, has the step of the wall clock, and every read of CLOCK_MONOTONIC
 * the step of the monotonic clock. A test can also step the monotonic clock: by the number of
 * seconds in the file that STEPPED_CLOCK names.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long offset_seconds;
static volatile long monotonic_seconds;
static const volatile long* seconds_of_test;

__attribute__((constructor)) static void find_seconds_of_test(void) {
  const char* path = getenv("STEPPED_CLOCK");
  const int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* const mapped = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) seconds_of_test = mapped;
  close(file);
}

void step_wall_clock(double seconds) { offset_seconds += (long)seconds; }
void step_monotonic_clock(double seconds) { monotonic_seconds += (long)seconds; }

int clock_gettime(clockid_t clock, struct timespec* now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    now->tv_sec += offset_seconds;
  if (result == 0 && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE))
    now->tv_sec += monotonic_seconds + (seconds_of_test != NULL ? *seconds_of_test : 0);
  return result;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  int result = (int)syscall(SYS_gettimeofday, now, zone);
  if (result == 0) now->tv_sec += offset_seconds;
  return result;
}

time_t time(time_t* result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}
