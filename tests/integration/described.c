/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts a tag, says what it stands for, and counts it again: described UNIT TEXT. */
#include <pcp/trace.h>

int main(int argc, char** argv) {
  pmtrace_handle tag = pmtrace_tag("read{disk=sda}");
  if (argc != 3 || pmtrace_point(tag) != 0 || pmtrace_flush(30) != 1) return 1;
  if (pmtrace_describe(tag, argv[1], argv[2]) != 0 || pmtrace_describe(tag, "late", "") != 0)
    return 1;
  return pmtrace_point(tag) == 0 && pmtrace_describe(NULL, "x", "y") < 0 ? 0 : 1;
}
