/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A statically linked program, whose destructors trace before the library's last delivery. */
#include <pcp/trace.h>

__attribute__((destructor)) static void end(void) { pmtracepoint("destructor"); }
__attribute__((destructor(102))) static void end_late(void) { pmtracepoint("late destructor"); }

int main(void) {
  pmtracepoint("main");
  return 0;
}
