/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same ABI, but calls do nothing: runs a program without tracing, without a rebuild. Every call
 * succeeds; pmtrace_tag() gives NULL. */
#include <errno.h>
#include <string.h>

#include "pcp/trace.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int pmtracebegin(const char* tag) {
  (void)tag;
  return 0;
}
EXPORT int pmtraceend(const char* tag) {
  (void)tag;
  return 0;
}
EXPORT int pmtraceabort(const char* tag) {
  (void)tag;
  return 0;
}
EXPORT int pmtracepoint(const char* tag) {
  (void)tag;
  return 0;
}
EXPORT int pmtraceobs(const char* tag, double value) {
  (void)tag;
  (void)value;
  return 0;
}
EXPORT int pmtracecounter(const char* tag, double value) {
  (void)tag;
  (void)value;
  return 0;
}
EXPORT int pmtraceadd(const char* tag, double increment) {
  (void)tag;
  (void)increment;
  return 0;
}
EXPORT int pmtracestate(int flags) {
  (void)flags;
  return 0;
}
EXPORT char* pmtraceerrstr(int code) {
  static char text[] = "No error.";
  (void)code;
  return text;
}

EXPORT pmtrace_handle pmtrace_tag(const char* name) {
  (void)name;
  return NULL;
}
EXPORT pmtrace_handle pmtrace_tag_with(const char* name, const pmtrace_label* labels,
                                       size_t count) {
  (void)name;
  (void)labels;
  (void)count;
  return NULL;
}
EXPORT const char* pmtrace_tag_text(pmtrace_handle tag) {
  (void)tag;
  return NULL;
}
EXPORT int pmtrace_describe(pmtrace_handle tag, const char* unit, const char* text) {
  (void)tag;
  (void)unit;
  (void)text;
  return 0;
}
EXPORT int pmtrace_point(pmtrace_handle tag) {
  (void)tag;
  return 0;
}
EXPORT int pmtrace_observe(pmtrace_handle tag, double value) {
  (void)tag;
  (void)value;
  return 0;
}
EXPORT int pmtrace_count(pmtrace_handle tag, double value) {
  (void)tag;
  (void)value;
  return 0;
}
EXPORT int pmtrace_add(pmtrace_handle tag, double increment) {
  (void)tag;
  (void)increment;
  return 0;
}
EXPORT int pmtrace_begin(pmtrace_handle tag, pmtrace_tx* tx) {
  (void)tag;
  (void)tx;
  return 0;
}
EXPORT int pmtrace_end(pmtrace_tx* tx) {
  (void)tx;
  return 0;
}
EXPORT int pmtrace_abort(pmtrace_tx* tx) {
  (void)tx;
  return 0;
}
EXPORT int pmtrace_begin_from(pmtrace_handle tag, pmtrace_tx* tx, const char* traceparent,
                              const char* tracestate) {
  (void)tag;
  (void)tx;
  (void)traceparent;
  (void)tracestate;
  return 0;
}
EXPORT int pmtrace_begin_under(pmtrace_handle tag, pmtrace_tx* tx, const pmtrace_tx* parent) {
  (void)tag;
  (void)tx;
  (void)parent;
  return 0;
}
EXPORT int pmtrace_attach(const pmtrace_tx* tx) {
  (void)tx;
  return 0;
}
EXPORT int pmtrace_detach(const pmtrace_tx* tx) {
  (void)tx;
  return 0;
}
EXPORT int pmtrace_is_captured(const pmtrace_tx* tx) {
  (void)tx;
  return 0;
}
EXPORT int pmtrace_note(pmtrace_tx* tx, const char* key, const char* value) {
  (void)tx;
  (void)key;
  (void)value;
  return 0;
}
EXPORT int pmtrace_note_number(pmtrace_tx* tx, const char* key, double value) {
  (void)tx;
  (void)key;
  (void)value;
  return 0;
}
EXPORT int pmtrace_link(pmtrace_tx* tx, const char* traceparent) {
  (void)tx;
  (void)traceparent;
  return 0;
}
EXPORT int pmtrace_fail(pmtrace_tx* tx, const char* reason) {
  (void)tx;
  (void)reason;
  return 0;
}
static int nothing(char* text, size_t size, size_t least) {
  if (text == NULL || size < least) return -EINVAL;
  *text = '\0';
  return 0;
}
EXPORT int pmtrace_context(const pmtrace_tx* tx, char* traceparent, size_t size) {
  (void)tx;
  return nothing(traceparent, size, PMTRACE_CONTEXT_SIZE);
}
EXPORT int pmtrace_context_state(const pmtrace_tx* tx, char* tracestate, size_t size) {
  (void)tx;
  return nothing(tracestate, size, PMTRACE_CONTEXT_STATE_SIZE);
}
EXPORT int pmtrace_flush(double timeout) {
  (void)timeout;
  return 1;
}
EXPORT int pmtrace_mmv(const char* name) {
  (void)name;
  return 0;
}
EXPORT int pmtrace_stats(pmtrace_stats_t* stats, size_t size) {
  if (stats == NULL) return -EINVAL;
  memset(stats, 0, size);
  return 0;
}
void pmtrace_complain_once(const char* text);
EXPORT void pmtrace_complain_once(const char* text) { (void)text; }

/* Fortran */
#define EXPORT_TAG(name)                            \
  int name(const char* tag, size_t length);         \
  EXPORT int name(const char* tag, size_t length) { \
    (void)tag;                                      \
    (void)length;                                   \
    return 0;                                       \
  }
#define EXPORT_VALUE(name)                                               \
  int name(const char* tag, const double* value, size_t length);         \
  EXPORT int name(const char* tag, const double* value, size_t length) { \
    (void)tag;                                                           \
    (void)value;                                                         \
    (void)length;                                                        \
    return 0;                                                            \
  }
EXPORT_TAG(pmtracebegin_)
EXPORT_TAG(pmtraceend_)
EXPORT_TAG(pmtraceabort_)
EXPORT_TAG(pmtracepoint_)
EXPORT_VALUE(pmtraceobs_)
EXPORT_VALUE(pmtracecounter_)
EXPORT_VALUE(pmtraceadd_)
int pmtracedescribe_(const char* tag, const char* unit, const char* text, size_t tag_length,
                     size_t unit_length, size_t text_length);
EXPORT int pmtracedescribe_(const char* tag, const char* unit, const char* text, size_t tag_length,
                            size_t unit_length, size_t text_length) {
  (void)tag;
  (void)unit;
  (void)text;
  (void)tag_length;
  (void)unit_length;
  (void)text_length;
  return 0;
}
int pmtracestate_(const int* flags);
EXPORT int pmtracestate_(const int* flags) {
  (void)flags;
  return 0;
}
void pmtraceerrstr_(const int* code, char* text, size_t length);
EXPORT void pmtraceerrstr_(const int* code, char* text, size_t length) {
  (void)code;
  memset(text, ' ', length);
}
