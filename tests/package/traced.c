/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An outside program: one call by name, one by handle, both acknowledged. */
#include <pcp/trace.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  if (strcmp(pmtraceerrstr(0), "No error.") != 0) return 1;
  if (pmtracepoint("package") != 0) return 2;
  if (pmtrace_point(pmtrace_tag("package")) != 0) return 3;
  if (pmtrace_flush(100) != 1) return 4;
  puts("traced");
  return 0;
}
