// SPDX-License-Identifier: LGPL-2.1-or-later
// One unit of a program traces; the other is compiled with PMTRACE_DISABLE. The linker keeps only
// one inline function of each name, so the units' functions must have different names.
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
