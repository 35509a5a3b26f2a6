/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every call of the header, compiled with PMTRACE_DISABLE. */
#include <pcp/trace.h>

int main(void) {
  pmtrace_tx transaction;
  pmtrace_stats_t stats;
  pmtrace_handle tag = pmtrace_tag("package");
  int sum = pmtracebegin("package") + pmtraceend("package") + pmtraceabort("package") +
            pmtracepoint("package") + pmtraceobs("package", 1.0) + pmtracecounter("package", 1.0) +
            pmtracecount("package", 1.0) + pmtracestate(PMTRACE_STATE_NONE) + pmtrace_point(tag) +
            pmtrace_observe(tag, 1.0) + pmtrace_count(tag, 1.0) + pmtrace_begin(tag, &transaction) +
            pmtrace_end(&transaction) + pmtrace_abort(&transaction) +
            pmtrace_stats(&stats, sizeof stats);
  return sum == 0 && pmtrace_flush(1.0) == 1 && pmtraceerrstr(0)[0] == 'N' ? 0 : 1;
}
