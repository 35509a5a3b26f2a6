// SPDX-License-Identifier: LGPL-2.1-or-later
// Two units of one program: one that traces, and one that is compiled with PMTRACE_DISABLE. The
// linker keeps one of all inline functions of a name, so those of the two must not be the same.
#include <pcp/trace.hpp>

#ifdef PMTRACE_DISABLE
void pass_in_silence() { pcp::trace::Point("silent").hit(); }
#else
void pass_in_silence();
int main() {
  pcp::trace::Point("traced").hit();
  pass_in_silence();
  return pmtrace_flush(100) == 1 ? 0 : 1;
}
#endif
