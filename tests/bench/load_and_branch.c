/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In a library of its own, as the calls that it stands for: see peers.cpp. */
#include <stdlib.h>

extern int bench_load_and_branch(const void* tag, double value);

volatile int bench_is_on;

int bench_load_and_branch(const void* tag, double value) {
  if (bench_is_on) return tag == NULL ? abs((int)value) : 1;
  return 0;
}
