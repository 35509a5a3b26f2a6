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

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wvariadic-macros" /* not in C90 */
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant" /* C has no nullptr */
#endif

/* Functions first: a program may take an address, and the stub library exports them. In C++ all
 * units share them, in a namespace that keeps them apart from the library's, which other units may
 * call. */
#ifdef __cplusplus
#define PMTRACE_INLINE_ inline
namespace pmtrace_disabled {
#else
#define PMTRACE_INLINE_ static __inline__
#endif
#ifndef PMTRACE_FUNCTION_
#define PMTRACE_FUNCTION_ PMTRACE_INLINE_
#endif

/* NOLINTBEGIN(misc-unused-parameters): the names say what each is */
PMTRACE_FUNCTION_ int pmtracebegin(const char* tag) { return 0; }
PMTRACE_FUNCTION_ int pmtraceend(const char* tag) { return 0; }
PMTRACE_FUNCTION_ int pmtraceabort(const char* tag) { return 0; }
PMTRACE_FUNCTION_ int pmtracepoint(const char* tag) { return 0; }
PMTRACE_FUNCTION_ int pmtraceobs(const char* tag, double value) { return 0; }
PMTRACE_FUNCTION_ int pmtracecounter(const char* tag, double value) { return 0; }
PMTRACE_FUNCTION_ int pmtraceadd(const char* tag, double increment) { return 0; }
PMTRACE_FUNCTION_ int pmtracestate(int flags) { return 0; }
PMTRACE_FUNCTION_ char* pmtraceerrstr(int code) {
  static char text[] = "No error.";
  return text;
}
PMTRACE_FUNCTION_ pmtrace_handle pmtrace_tag(const char* name) { return NULL; }
PMTRACE_FUNCTION_ pmtrace_handle pmtrace_tag_with(const char* name, const pmtrace_label* labels,
                                                  size_t count) {
  return NULL;
}
PMTRACE_FUNCTION_ pmtrace_handle pmtrace_tag_add_labels(pmtrace_handle tag,
                                                        const pmtrace_label* labels, size_t count) {
  return NULL;
}
PMTRACE_FUNCTION_ const char* pmtrace_tag_text(pmtrace_handle tag) { return NULL; }
PMTRACE_FUNCTION_ int pmtrace_describe(pmtrace_handle tag, const char* unit, const char* text) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_point(pmtrace_handle tag) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_observe(pmtrace_handle tag, double value) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_count(pmtrace_handle tag, double value) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_add(pmtrace_handle tag, double increment) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_begin(pmtrace_handle tag, pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_begin_at(pmtrace_handle tag, uint64_t start_ns, pmtrace_tx* tx) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_end(pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_abort(pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_end_as(pmtrace_tx* tx, pmtrace_handle tag) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_abort_as(pmtrace_tx* tx, pmtrace_handle tag) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_begin_from(pmtrace_handle tag, pmtrace_tx* tx,
                                         const char* traceparent, const char* tracestate) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_begin_under(pmtrace_handle tag, pmtrace_tx* tx,
                                          const pmtrace_tx* parent) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_begin_from_at(pmtrace_handle tag, uint64_t start_ns, pmtrace_tx* tx,
                                            const char* traceparent, const char* tracestate) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_begin_under_at(pmtrace_handle tag, uint64_t start_ns, pmtrace_tx* tx,
                                             const pmtrace_tx* parent) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_attach(const pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_detach(const pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_context(const pmtrace_tx* tx, char* traceparent, size_t size) {
  if (traceparent == NULL || size < PMTRACE_CONTEXT_SIZE) return -EINVAL;
  *traceparent = '\0';
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_context_state(const pmtrace_tx* tx, char* tracestate, size_t size) {
  if (tracestate == NULL || size < PMTRACE_CONTEXT_STATE_SIZE) return -EINVAL;
  *tracestate = '\0';
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_is_captured(const pmtrace_tx* tx) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_note(pmtrace_tx* tx, const char* key, const char* value) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_note_number(pmtrace_tx* tx, const char* key, double value) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_link(pmtrace_tx* tx, const char* traceparent) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_want(pmtrace_tx* tx, const char* why) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_fail(pmtrace_tx* tx, const char* reason) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_fail_as(pmtrace_tx* tx, pmtrace_handle tag, const char* reason) {
  return 0;
}
PMTRACE_FUNCTION_ int pmtrace_flush(double timeout) { return 1; }
PMTRACE_FUNCTION_ int pmtrace_mmv(const char* name) { return 0; }
PMTRACE_FUNCTION_ int pmtrace_stats(pmtrace_stats_t* stats, size_t size) {
  if (stats == NULL) return -EINVAL;
  memset(stats, 0, size);
  return 0;
}
/* NOLINTEND(misc-unused-parameters) */

/* Return their argument: a macro must begin with a name to work after "::". */
PMTRACE_INLINE_ int pmtrace_code_(int code) { return code; }
PMTRACE_INLINE_ char* pmtrace_text_(char* text) { return text; }
PMTRACE_INLINE_ const char* pmtrace_no_text_(const char* text) { return text; }
PMTRACE_INLINE_ pmtrace_handle pmtrace_no_tag_(pmtrace_handle tag) { return tag; }

#undef PMTRACE_INLINE_
#undef PMTRACE_FUNCTION_
#ifdef __cplusplus
} /* namespace pmtrace_disabled */
using namespace pmtrace_disabled;
#endif

/* Then macros of the same names for calls: they pass the arguments to the function in a branch that
 * is never reached. Variadic, since template arguments may contain commas. Where a call sets a
 * transaction, no constant decides: else compilers complain that the transaction is never set. */
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
#define pmtrace_tag_add_labels(...) \
  pmtrace_no_tag_(0 ? (pmtrace_tag_add_labels)(__VA_ARGS__) : NULL)
#define pmtrace_tag_text(...) pmtrace_no_text_(0 ? (pmtrace_tag_text)(__VA_ARGS__) : NULL)
#define pmtrace_describe(...) pmtrace_code_(0 ? (pmtrace_describe)(__VA_ARGS__) : 0)
#define pmtrace_point(...) pmtrace_code_(0 ? (pmtrace_point)(__VA_ARGS__) : 0)
#define pmtrace_observe(...) pmtrace_code_(0 ? (pmtrace_observe)(__VA_ARGS__) : 0)
#define pmtrace_count(...) pmtrace_code_(0 ? (pmtrace_count)(__VA_ARGS__) : 0)
#define pmtrace_add(...) pmtrace_code_(0 ? (pmtrace_add)(__VA_ARGS__) : 0)
#define pmtrace_begin(...) pmtrace_code_(pmtrace_code_(0) ? (pmtrace_begin)(__VA_ARGS__) : 0)
#define pmtrace_begin_at(...) pmtrace_code_(pmtrace_code_(0) ? (pmtrace_begin_at)(__VA_ARGS__) : 0)
#define pmtrace_end(...) pmtrace_code_(0 ? (pmtrace_end)(__VA_ARGS__) : 0)
#define pmtrace_abort(...) pmtrace_code_(0 ? (pmtrace_abort)(__VA_ARGS__) : 0)
#define pmtrace_end_as(...) pmtrace_code_(0 ? (pmtrace_end_as)(__VA_ARGS__) : 0)
#define pmtrace_abort_as(...) pmtrace_code_(0 ? (pmtrace_abort_as)(__VA_ARGS__) : 0)
#define pmtrace_begin_from(...) \
  pmtrace_code_(pmtrace_code_(0) ? (pmtrace_begin_from)(__VA_ARGS__) : 0)
#define pmtrace_begin_under(...) \
  pmtrace_code_(pmtrace_code_(0) ? (pmtrace_begin_under)(__VA_ARGS__) : 0)
#define pmtrace_begin_from_at(...) \
  pmtrace_code_(pmtrace_code_(0) ? (pmtrace_begin_from_at)(__VA_ARGS__) : 0)
#define pmtrace_begin_under_at(...) \
  pmtrace_code_(pmtrace_code_(0) ? (pmtrace_begin_under_at)(__VA_ARGS__) : 0)
#define pmtrace_attach(...) pmtrace_code_(0 ? (pmtrace_attach)(__VA_ARGS__) : 0)
#define pmtrace_detach(...) pmtrace_code_(0 ? (pmtrace_detach)(__VA_ARGS__) : 0)
#define pmtrace_is_captured(...) pmtrace_code_(0 ? (pmtrace_is_captured)(__VA_ARGS__) : 0)
#define pmtrace_note(...) pmtrace_code_(0 ? (pmtrace_note)(__VA_ARGS__) : 0)
#define pmtrace_note_number(...) pmtrace_code_(0 ? (pmtrace_note_number)(__VA_ARGS__) : 0)
#define pmtrace_link(...) pmtrace_code_(0 ? (pmtrace_link)(__VA_ARGS__) : 0)
#define pmtrace_want(...) pmtrace_code_(0 ? (pmtrace_want)(__VA_ARGS__) : 0)
#define pmtrace_fail(...) pmtrace_code_(0 ? (pmtrace_fail)(__VA_ARGS__) : 0)
#define pmtrace_fail_as(...) pmtrace_code_(0 ? (pmtrace_fail_as)(__VA_ARGS__) : 0)
#define pmtrace_mmv(...) pmtrace_code_(0 ? (pmtrace_mmv)(__VA_ARGS__) : 0)
#define pmtrace_flush(...) pmtrace_code_(0 ? (pmtrace_flush)(__VA_ARGS__) : 1)
#pragma GCC diagnostic pop

#endif /* PCP_TRACE_DISABLED_H */
