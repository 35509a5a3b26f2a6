/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a program, this lets the program step its own clocks: everything that reads
 * CLOCK_REALTIME in it, by whatever call, sees a step of the wall clock, and CLOCK_MONOTONIC one of
 * the monotonic clock.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long offset_seconds;
static volatile long monotonic_seconds;

void step_wall_clock(double seconds) { offset_seconds += (long)seconds; }
void step_monotonic_clock(double seconds) { monotonic_seconds += (long)seconds; }

int clock_gettime(clockid_t clock, struct timespec* now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    now->tv_sec += offset_seconds;
  if (result == 0 && clock == CLOCK_MONOTONIC) now->tv_sec += monotonic_seconds;
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
