/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts two tags, and describes them only later: the first while the library sleeps, the second as
 * the last call. Usage: PCP_TRACE_FLUSH=1 described UNIT TEXT. */
#include <pcp/trace.h>
#include <unistd.h>

static unsigned long long batches(void) {
  pmtrace_stats_t stats;
  return pmtrace_stats(&stats, sizeof stats) == 0 ? stats.batches : 0;
}

int main(int argc, char** argv) {
  pmtrace_handle tag = pmtrace_tag("read{disk=sda}");
  pmtrace_handle other = pmtrace_tag("written");
  if (argc != 3 || pmtrace_point(tag) != 0 || pmtrace_point(other) != 0 || pmtrace_flush(120) != 1)
    return 1;
  usleep(200000); /* load: so that the library sleeps; the result is the same if it does not */
  const unsigned long long before = batches();
  if (pmtrace_describe(tag, argv[1], argv[2]) != 0 || pmtrace_describe(tag, "late", "") != 0)
    return 1;
  for (int tries = 0; batches() == before; ++tries) {
    if (tries == 12000) return 2;
    usleep(10000); /* poll: until the description is sent */
  }
  if (pmtrace_flush(120) != 1 || batches() != before + 1) return 3;
  return pmtrace_describe(other, argv[1], 0) == 0 && pmtrace_describe(0, "x", "y") < 0 ? 0 : 4;
}
