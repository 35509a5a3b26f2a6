/*
 * The calls of <pcp/trace.h> with PMTRACE_DISABLE: the compiler checks them, they evaluate no
 * argument, and give the results of success. Optimisation removes them completely. Only
 * pmtrace_stats, pmtrace_context and pmtrace_context_state are called, since the program reads
 * their output.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#if defined(PMTRACE_DISABLE) && !defined(PCP_TRACE_DISABLED_H)
#define PCP_TRACE_DISABLED_H

#include <errno.h>
#include <string.h>

#include "pcp/trace.h"

/* Functions first: a program may take an address. In C++ all units share them, in a namespace that
 * keeps them apart from the library's, which other units may call. */
#ifdef __cplusplus
#define PMTRACE_FUNCTION_ inline
namespace pmtrace_disabled {
#else
#define PMTRACE_FUNCTION_ static __inline__
#endif
#define PMTRACE_UNUSED_ __attribute__((unused))

PMTRACE_FUNCTION_ int pmtracebegin(PMTRACE_UNUSED_ const char* tag) { return 0; }
PMTRACE_FUNCTION_ int pmtraceend(PMTRACE_UNUSED_ const char* tag) { return 0; }
PMTRACE_FUNCTION_ int pmtraceabort(PMTRACE_UNUSED_ const char* tag) { return 0; }
PMTRACE_FUNCTION_ int pmtracepoint(PMTRACE_UNUSED_ const char* tag) { return 0; }
PMTRACE_FUNCTION_ int pmtraceobs(PMTRACE_UNUSED_ const char* tag, PMTRACE_UNUSED_ double value) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtracecounter(PMTRACE_UNUSED_ const char* tag,
                                     PMTRACE_UNUSED_ double value) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtraceadd(PMTRACE_UNUSED_ const char* tag,
                                 PMTRACE_UNUSED_ double increment) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtracestate(PMTRACE_UNUSED_ int flags) { return 0; }
PMTRACE_FUNCTION_ char* pmtraceerrstr(PMTRACE_UNUSED_ int code) {
  static char text[] = "No error.";
  return text;
}
PMTRACE_FUNCTION_ pmtrace_handle pmtrace_tag(PMTRACE_UNUSED_ const char* name) { return NULL; }
PMTRACE_FUNCTION_ pmtrace_handle pmtrace_tag_with(PMTRACE_UNUSED_ const char* name,
                                                  PMTRACE_UNUSED_ const pmtrace_label* labels,
                                                  PMTRACE_UNUSED_ size_t count) {
  return NULL;
}
PMTRACE_FUNCTION_ const char* pmtrace_tag_text(PMTRACE_UNUSED_ pmtrace_handle tag) { return NULL; }
PMTRACE_FUNCTION_ int pmtrace_describe(PMTRACE_UNUSED_ pmtrace_handle tag,
                                       PMTRACE_UNUSED_ const char* unit,
                                       PMTRACE_UNUSED_ const char* text) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_point(PMTRACE_UNUSED_ pmtrace_handle tag) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_observe(PMTRACE_UNUSED_ pmtrace_handle tag,
                                      PMTRACE_UNUSED_ double value) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_count(PMTRACE_UNUSED_ pmtrace_handle tag,
                                    PMTRACE_UNUSED_ double value) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_add(PMTRACE_UNUSED_ pmtrace_handle tag,
                                  PMTRACE_UNUSED_ double increment) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_begin(PMTRACE_UNUSED_ pmtrace_handle tag,
                                    PMTRACE_UNUSED_ pmtrace_tx* tx) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_end(PMTRACE_UNUSED_ pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_abort(PMTRACE_UNUSED_ pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_begin_from(PMTRACE_UNUSED_ pmtrace_handle tag,
                                         PMTRACE_UNUSED_ pmtrace_tx* tx,
                                         PMTRACE_UNUSED_ const char* traceparent,
                                         PMTRACE_UNUSED_ const char* tracestate) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_begin_under(PMTRACE_UNUSED_ pmtrace_handle tag,
                                          PMTRACE_UNUSED_ pmtrace_tx* tx,
                                          PMTRACE_UNUSED_ const pmtrace_tx* parent) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_attach(PMTRACE_UNUSED_ const pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_detach(PMTRACE_UNUSED_ const pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_context(PMTRACE_UNUSED_ const pmtrace_tx* tx, char* traceparent,
                                      size_t size) {
  if (traceparent == NULL || size < PMTRACE_CONTEXT_SIZE) return -EINVAL;
  *traceparent = '\0';
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_context_state(PMTRACE_UNUSED_ const pmtrace_tx* tx, char* tracestate,
                                            size_t size) {
  if (tracestate == NULL || size < PMTRACE_CONTEXT_STATE_SIZE) return -EINVAL;
  *tracestate = '\0';
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_is_captured(PMTRACE_UNUSED_ const pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_note(PMTRACE_UNUSED_ pmtrace_tx* tx, PMTRACE_UNUSED_ const char* key,
                                   PMTRACE_UNUSED_ const char* value) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_note_number(PMTRACE_UNUSED_ pmtrace_tx* tx,
                                          PMTRACE_UNUSED_ const char* key,
                                          PMTRACE_UNUSED_ double value) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_link(PMTRACE_UNUSED_ pmtrace_tx* tx,
                                   PMTRACE_UNUSED_ const char* traceparent) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_fail(PMTRACE_UNUSED_ pmtrace_tx* tx,
                                   PMTRACE_UNUSED_ const char* reason) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_flush(PMTRACE_UNUSED_ double timeout) { return 1; }
PMTRACE_FUNCTION_ int pmtrace_mmv(PMTRACE_UNUSED_ const char* name) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_stats(pmtrace_stats_t* stats, size_t size) {
  if (stats == NULL) return -EINVAL;
  memset(stats, 0, size);
  return 0;
}

/* Return their argument. They exist since a macro that begins with a name still works after "::".
 */
PMTRACE_FUNCTION_ int pmtrace_code_(int code) { return code; }
PMTRACE_FUNCTION_ char* pmtrace_text_(char* text) { return text; }
PMTRACE_FUNCTION_ const char* pmtrace_no_text_(const char* text) { return text; }
PMTRACE_FUNCTION_ pmtrace_handle pmtrace_no_tag_(pmtrace_handle tag) { return tag; }

#undef PMTRACE_UNUSED_
#undef PMTRACE_FUNCTION_
#ifdef __cplusplus
} /* namespace pmtrace_disabled */
using namespace pmtrace_disabled;
#endif

/* Then macros of the same names for calls: they pass the arguments to the function in a branch that
 * is never reached. Variadic, since template arguments may contain commas; C90 warns about "...".
 * */
#ifndef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvariadic-macros"
#endif
#define pmtracebegin(...) pmtrace_code_(0 ? (pmtracebegin)(__VA_ARGS__) : 0)
#define pmtraceend(...) pmtrace_code_(0 ? (pmtraceend)(__VA_ARGS__) : 0)
#define pmtraceabort(...) pmtrace_code_(0 ? (pmtraceabort)(__VA_ARGS__) : 0)
#define pmtracepoint(...) pmtrace_code_(0 ? (pmtracepoint)(__VA_ARGS__) : 0)
#define pmtraceobs(...) pmtrace_code_(0 ? (pmtraceobs)(__VA_ARGS__) : 0)
#define pmtracecounter(...) pmtrace_code_(0 ? (pmtracecounter)(__VA_ARGS__) : 0)
#define pmtraceadd(...) pmtrace_code_(0 ? (pmtraceadd)(__VA_ARGS__) : 0)
#define pmtracestate(...) pmtrace_code_(0 ? (pmtracestate)(__VA_ARGS__) : 0)
#define pmtraceerrstr(...) pmtrace_text_(0 ? (pmtraceerrstr)(__VA_ARGS__) : (pmtraceerrstr)(0))
#define pmtrace_tag(...) pmtrace_no_tag_(0 ? (pmtrace_tag)(__VA_ARGS__) : NULL)
#define pmtrace_tag_with(...) pmtrace_no_tag_(0 ? (pmtrace_tag_with)(__VA_ARGS__) : NULL)
#define pmtrace_tag_text(...) pmtrace_no_text_(0 ? (pmtrace_tag_text)(__VA_ARGS__) : NULL)
#define pmtrace_describe(...) pmtrace_code_(0 ? (pmtrace_describe)(__VA_ARGS__) : 0)
#define pmtrace_point(...) pmtrace_code_(0 ? (pmtrace_point)(__VA_ARGS__) : 0)
#define pmtrace_observe(...) pmtrace_code_(0 ? (pmtrace_observe)(__VA_ARGS__) : 0)
#define pmtrace_count(...) pmtrace_code_(0 ? (pmtrace_count)(__VA_ARGS__) : 0)
#define pmtrace_add(...) pmtrace_code_(0 ? (pmtrace_add)(__VA_ARGS__) : 0)
#define pmtrace_begin(...) pmtrace_code_(0 ? (pmtrace_begin)(__VA_ARGS__) : 0)
#define pmtrace_end(...) pmtrace_code_(0 ? (pmtrace_end)(__VA_ARGS__) : 0)
#define pmtrace_abort(...) pmtrace_code_(0 ? (pmtrace_abort)(__VA_ARGS__) : 0)
#define pmtrace_begin_from(...) pmtrace_code_(0 ? (pmtrace_begin_from)(__VA_ARGS__) : 0)
#define pmtrace_begin_under(...) pmtrace_code_(0 ? (pmtrace_begin_under)(__VA_ARGS__) : 0)
#define pmtrace_attach(...) pmtrace_code_(0 ? (pmtrace_attach)(__VA_ARGS__) : 0)
#define pmtrace_detach(...) pmtrace_code_(0 ? (pmtrace_detach)(__VA_ARGS__) : 0)
#define pmtrace_is_captured(...) pmtrace_code_(0 ? (pmtrace_is_captured)(__VA_ARGS__) : 0)
#define pmtrace_note(...) pmtrace_code_(0 ? (pmtrace_note)(__VA_ARGS__) : 0)
#define pmtrace_note_number(...) pmtrace_code_(0 ? (pmtrace_note_number)(__VA_ARGS__) : 0)
#define pmtrace_link(...) pmtrace_code_(0 ? (pmtrace_link)(__VA_ARGS__) : 0)
#define pmtrace_fail(...) pmtrace_code_(0 ? (pmtrace_fail)(__VA_ARGS__) : 0)
#define pmtrace_mmv(...) pmtrace_code_(0 ? (pmtrace_mmv)(__VA_ARGS__) : 0)
#define pmtrace_flush(...) pmtrace_code_(0 ? (pmtrace_flush)(__VA_ARGS__) : 1)
#ifndef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif /* PCP_TRACE_DISABLED_H */
