/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The smallest traced program. See it with: pminfo -f trace.point.count
 *
 *   cc first_point.c $(pkg-config --cflags --libs libpcp_trace) && ./a.out
 */
#include <pcp/trace.h>
#include <stdio.h>

int main(void) {
  int status = pmtracepoint("first-point");
  if (status < 0) {
    fprintf(stderr, "first-point: %s\n", pmtraceerrstr(status));
    return 1;
  }
  puts("first-point was passed");
  return 0;
}
