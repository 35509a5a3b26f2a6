/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plug-in that traces with a static library of its own. */
#include <pcp/trace.h>

int trace(void);
int trace(void) { return pmtracepoint("package") | !pmtrace_flush(100); }
