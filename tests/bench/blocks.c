/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks of C as transactions, for caller.cpp: C++ has macros of its own. */
#include <pcp/trace.h>

extern void bench_c_handle(pmtrace_handle tag);
extern void bench_c_scope(void);
extern void bench_c_function(void);

void bench_c_handle(pmtrace_handle tag) {
  pmtrace_tx transaction;
  pmtrace_begin(tag, &transaction);
  pmtrace_end(&transaction);
}

void bench_c_scope(void) { PMTRACE_SCOPE("bench.scope"); }

void bench_c_function(void) { PMTRACE_FUNCTION(); }
