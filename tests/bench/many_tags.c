/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * many_tags TAGS SECONDS: a transaction of each of TAGS tags, four times a second.
 */
#include <pcp/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int count = argc == 3 ? atoi(argv[1]) : 0;
  int rounds = argc == 3 ? (int)(4 * atof(argv[2])) : 0;
  pmtrace_handle* tags = calloc((size_t)count + 1, sizeof *tags);
  char name[64];
  int round, i;
  if (count < 1 || tags == NULL) return 2;
  for (i = 0; i < count; i++) {
    snprintf(name, sizeof name, "shop.basket.checkout.%08d", i);
    tags[i] = pmtrace_tag(name);
  }
  for (round = 0; round < rounds; round++) {
    for (i = 0; i < count; i++) {
      pmtrace_tx running;
      pmtrace_begin(tags[i], &running);
      pmtrace_end(&running);
    }
    usleep(250000);
  }
  free(tags);
  return 0;
}
