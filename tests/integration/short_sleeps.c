/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Preloaded into a program, this shortens each sleep to a hundredth: a wait that counts sleeps ends
 * soon. */
#define _GNU_SOURCE
#include <time.h>

/* stepped: scales the program's time */
int nanosleep(const struct timespec* time, struct timespec* left) {
  const long long short_ns = (time->tv_sec * 1000000000LL + time->tv_nsec) / 100;
  const struct timespec short_time = {short_ns / 1000000000, short_ns % 1000000000};
  return clock_nanosleep(CLOCK_MONOTONIC, 0, &short_time, left); /* stepped: a hundredth */
}
