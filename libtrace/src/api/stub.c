/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same ABI, but calls do nothing: runs a program without tracing, without a rebuild. Every call
 * succeeds; pmtrace_tag() gives NULL. */
#include "pcp/trace.h"

/* C: the functions of the disabled header, exported. */
#define EXPORT __attribute__((visibility("default")))
#define PMTRACE_FUNCTION_ EXPORT
#define PMTRACE_DISABLE
#include "pcp/trace_disabled.h"

/* C++ and Fortran: no header declares these. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* NOLINTBEGIN(misc-unused-parameters) */
EXPORT void pmtrace_complain_once(const char* text) {}
EXPORT int pmtracebegin_(const char* tag, size_t length) { return 0; }
EXPORT int pmtraceend_(const char* tag, size_t length) { return 0; }
EXPORT int pmtraceabort_(const char* tag, size_t length) { return 0; }
EXPORT int pmtracepoint_(const char* tag, size_t length) { return 0; }
EXPORT int pmtraceobs_(const char* tag, const double* value, size_t length) { return 0; }
EXPORT int pmtracecounter_(const char* tag, const double* value, size_t length) { return 0; }
EXPORT int pmtracecount_(const char* tag, const double* value, size_t length) { return 0; }
EXPORT int pmtraceadd_(const char* tag, const double* increment, size_t length) { return 0; }
EXPORT int pmtracedescribe_(const char* tag, const char* unit, const char* text, size_t tag_length,
                            size_t unit_length, size_t text_length) {
  return 0;
}
EXPORT int pmtracemmv_(const char* name, size_t length) { return 0; }
EXPORT int pmtracestate_(const int* flags) { return 0; }
EXPORT void pmtraceerrstr_(const int* code, char* text, size_t length) {
  memset(text, ' ', length);
}
/* NOLINTEND(misc-unused-parameters) */
