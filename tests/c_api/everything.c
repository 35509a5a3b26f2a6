/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Uses every call of <pcp/trace.h> at least once against the environment's agent, checks the return
 * values, and prints the first wrong one. test_c_api.py checks the recorded values.
 */
#include <errno.h>
#include <math.h>
#include <pcp/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

_Static_assert(sizeof(pmtrace_tx) == 64, "pmtrace_tx has room for trace and span ids");

static int is_zero(const pmtrace_tx* tx) {
  static const pmtrace_tx zero;
  return memcmp(tx, &zero, sizeof zero) == 0;
}

static void calls_by_name(void) {
  CHECK(pmtracestate(PMTRACE_STATE_NONE) == PMTRACE_STATE_NONE);
  CHECK(pmtracepoint("named") == 0);
  CHECK(pmtraceobs("named", 2.5) == 0);
  CHECK(pmtracecounter("named", 10) == 0);
  CHECK(pmtracecount("named", 20) == 0); /* the guide's name for it */
  CHECK(pmtraceadd("sum", 5) == 0);
  CHECK(pmtraceadd("sum", 0) == 0);
  CHECK(pmtraceadd("sum", -5) == -EINVAL);
  CHECK(pmtraceadd("sum", NAN) == -EINVAL);
  CHECK(pmtraceadd("sum", INFINITY) == -EINVAL);
  CHECK(pmtraceadd("", 5) == PMTRACE_ERR_TAGNAME);
  CHECK(pmtracebegin("named") == 0);
  CHECK(pmtracebegin("named") == PMTRACE_ERR_INPROGRESS);
  CHECK(pmtraceend("named") == 0);
  CHECK(pmtraceend("named") == PMTRACE_ERR_NOPROGRESS);
  CHECK(pmtracebegin("named") == 0);
  CHECK(pmtraceabort("named") == 0);
  CHECK(pmtraceabort("never") == PMTRACE_ERR_NOSUCHTAG);
  CHECK(pmtracepoint(NULL) == PMTRACE_ERR_TAGNAME);
  CHECK(pmtracestate(PMTRACE_STATE_ASYNC) == -EINVAL);
  CHECK(strcmp(pmtraceerrstr(0), "No error.") == 0);
}

static void tags(void) {
  char longest[256];
  memset(longest, 't', sizeof longest);
  longest[255] = '\0';
  CHECK(pmtrace_tag(NULL) == NULL);
  CHECK(pmtrace_tag("") == NULL);
  CHECK(pmtrace_tag(longest) == NULL);
  longest[254] = '\0';
  CHECK(pmtrace_tag(longest) != NULL);
  CHECK(pmtrace_tag("handled") == pmtrace_tag("handled"));
  CHECK(pmtrace_tag("handled") != pmtrace_tag("other"));
  CHECK(strcmp(pmtrace_tag_text(pmtrace_tag("handled")), "handled") == 0);
  CHECK(pmtrace_tag_text(NULL) == NULL);
}

static void tags_with_labels(void) {
  const pmtrace_label labels[] = {{"zone", "eu"}, {"route", "/a b"}};
  CHECK(pmtrace_tag_with("handled", labels, 2) == pmtrace_tag("handled{route=/a%20b;zone=eu}"));
  CHECK(pmtrace_tag_with("handled", NULL, 0) == pmtrace_tag("handled"));
  CHECK(pmtrace_point(pmtrace_tag_with("handled", labels, 2)) == 0);
  CHECK(pmtrace_point(pmtrace_tag_with("handled", labels, 1)) == 0);
}

static void calls_by_handle(void) {
  pmtrace_handle tag = pmtrace_tag("handled");
  CHECK(pmtrace_point(tag) == 0);
  CHECK(pmtrace_observe(tag, -1.5) == 0);
  CHECK(pmtrace_observe(tag, 4) == 0);
  CHECK(pmtrace_count(tag, 30) == 0);
  CHECK(pmtrace_point(NULL) == PMTRACE_ERR_TAGNAME);
  CHECK(pmtrace_observe(NULL, 1) == PMTRACE_ERR_TAGNAME);
  CHECK(pmtrace_count(NULL, 1) == PMTRACE_ERR_TAGNAME);
  CHECK(pmtrace_add(pmtrace_tag("added"), 5) == 0);
  CHECK(pmtrace_add(pmtrace_tag("added"), 2.5) == 0);
  CHECK(pmtrace_add(tag, -1) == -EINVAL);
  CHECK(pmtrace_add(NULL, 1) == PMTRACE_ERR_TAGNAME);
}

static void transactions(void) {
  pmtrace_handle tag = pmtrace_tag("handled");
  pmtrace_tx open[3], none;
  int i;
  memset(&none, 0, sizeof none);
  for (i = 0; i < 3; i++) CHECK(pmtrace_begin(tag, &open[i]) == 0); /* any number at once */
  CHECK(pmtrace_end(&open[1]) == 0);
  CHECK(is_zero(&open[1]));
  CHECK(pmtrace_end(&open[1]) == PMTRACE_ERR_NOPROGRESS);
  CHECK(pmtrace_abort(&open[0]) == 0);
  CHECK(is_zero(&open[0]));
  CHECK(pmtrace_abort(&open[0]) == PMTRACE_ERR_NOPROGRESS);
  CHECK(pmtrace_end(&open[2]) == 0);
  CHECK(pmtrace_end(&none) == PMTRACE_ERR_NOPROGRESS);
  memset(&none, 1, sizeof none);
  CHECK(pmtrace_begin(NULL, &none) == PMTRACE_ERR_TAGNAME);
  CHECK(is_zero(&none));
  CHECK(pmtrace_begin(tag, NULL) == -EINVAL);
}

static void other_tags_at_the_end(void) {
  const pmtrace_label gone = {"status", "410"}, bad = {"Status", "410"};
  pmtrace_handle tag = pmtrace_tag("served");
  pmtrace_handle with = pmtrace_tag_add_labels(tag, &gone, 1);
  pmtrace_tx tx;
  CHECK(with == pmtrace_tag("served{status=410}"));
  CHECK(pmtrace_tag_add_labels(NULL, &gone, 1) == NULL);
  CHECK(pmtrace_tag_add_labels(tag, &bad, 1) == NULL);
  CHECK(pmtrace_tag_add_labels(with, NULL, 0) == with);
  CHECK(pmtrace_tag_add_labels(with, NULL, 3) == NULL);
  CHECK(pmtrace_tag_add_labels(with, &gone, (size_t)-1) == NULL);
  CHECK(pmtrace_begin(tag, &tx) == 0);
  CHECK(pmtrace_end_as(&tx, with) == 0);
  CHECK(is_zero(&tx));
  CHECK(pmtrace_end_as(&tx, with) == PMTRACE_ERR_NOPROGRESS);
  CHECK(pmtrace_abort_as(NULL, with) == PMTRACE_ERR_NOPROGRESS);
  CHECK(pmtrace_begin(tag, &tx) == 0);
  CHECK(pmtrace_abort_as(&tx, with) == 0);
  CHECK(pmtrace_begin(tag, &tx) == 0);
  CHECK(pmtrace_fail_as(&tx, with, "gone") == 0);
  CHECK(pmtrace_begin(tag, &tx) == 0);
  CHECK(pmtrace_end_as(&tx, NULL) == PMTRACE_ERR_TAGNAME); /* ends all the same */
  CHECK(is_zero(&tx));
  CHECK(pmtrace_end_as(&tx, NULL) == PMTRACE_ERR_NOPROGRESS);
}

static void traces(void) {
  static const char kParent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  pmtrace_handle tag = pmtrace_tag("traced");
  pmtrace_tx request, part, copy, none;
  char parent[PMTRACE_CONTEXT_SIZE], state[PMTRACE_CONTEXT_STATE_SIZE];
  memset(&none, 0, sizeof none);
  CHECK(pmtrace_begin_at(tag, 1, NULL) == -EINVAL);
  CHECK(pmtrace_begin_at(NULL, 1, &request) == PMTRACE_ERR_TAGNAME);
  CHECK(is_zero(&request));
  CHECK(pmtrace_begin_from(tag, NULL, kParent, NULL) == -EINVAL);
  CHECK(pmtrace_begin_under(tag, NULL, &none) == -EINVAL);
  CHECK(pmtrace_begin_from(NULL, &request, kParent, NULL) == PMTRACE_ERR_TAGNAME);
  CHECK(is_zero(&request));
  CHECK(pmtrace_begin_under(NULL, &request, &none) == PMTRACE_ERR_TAGNAME);
  CHECK(pmtrace_begin_from_at(tag, 1, NULL, kParent, NULL) == -EINVAL);
  CHECK(pmtrace_begin_under_at(tag, 1, NULL, &none) == -EINVAL);
  CHECK(pmtrace_attach(NULL) == -EINVAL);
  CHECK(pmtrace_detach(NULL) == -EINVAL);
  CHECK(pmtrace_attach(&none) == PMTRACE_ERR_NOPROGRESS);
  CHECK(pmtrace_detach(&none) == 0);
  CHECK(pmtrace_context(NULL, parent, sizeof parent) == 0);
  CHECK(*parent == '\0');
  CHECK(pmtrace_begin_from(tag, &request, kParent, "a=1") == 0);
  CHECK(pmtrace_context(&request, NULL, 100) == -EINVAL);
  CHECK(pmtrace_context(&request, parent, sizeof parent - 1) == -EINVAL);
  CHECK(pmtrace_context(&request, parent, sizeof parent) == 55);
  CHECK(strcmp(parent, kParent) == 0);
  CHECK(pmtrace_context_state(NULL, NULL, 1000) == -EINVAL);
  CHECK(pmtrace_context_state(NULL, state, sizeof state - 1) == -EINVAL);
  CHECK(pmtrace_context_state(NULL, state, sizeof state) == 3);
  CHECK(strcmp(state, "a=1") == 0);
  copy = request;
  CHECK(pmtrace_detach(&request) == 0);
  CHECK(pmtrace_context_state(NULL, state, sizeof state) == 0);
  CHECK(pmtrace_attach(&request) == 0);
  CHECK(pmtrace_end(&request) == 0);
  CHECK(is_zero(&request));
  CHECK(pmtrace_context(NULL, parent, sizeof parent) == 0);
  CHECK(pmtrace_begin_under(tag, &part, &copy) == 0);
  CHECK(pmtrace_context(&part, parent, sizeof parent) == 55);
  CHECK(pmtrace_abort(&part) == 0);
  CHECK(is_zero(&part));
  CHECK(pmtrace_begin_from_at(tag, 1, &request, kParent, "a=1") == 0);
  CHECK(pmtrace_context_state(NULL, state, sizeof state) == 3);
  CHECK(pmtrace_detach(&request) == 0);
  CHECK(pmtrace_begin_under_at(tag, 1, &part, &request) == 0);
  CHECK(pmtrace_context(NULL, parent, sizeof parent) == 55);
  CHECK(strcmp(parent, kParent) == 0);
  CHECK(pmtrace_end(&part) == 0);
  CHECK(pmtrace_end(&request) == 0);
}

/* A transaction that is not captured: no note is checked, so none is wrong. */
static void notes(void) {
  pmtrace_tx tx;
  CHECK(pmtrace_begin(pmtrace_tag("noted"), &tx) == 0);
  CHECK(pmtrace_is_captured(&tx) == 0);
  CHECK(pmtrace_note(&tx, "route", "/cart") == 0);
  CHECK(pmtrace_note(&tx, NULL, NULL) == 0);
  CHECK(pmtrace_note_number(&tx, "rows", 12.5) == 0);
  CHECK(pmtrace_link(&tx, "no header") == 0);
  CHECK(pmtrace_want(&tx, "why") == 0);
  CHECK(pmtrace_fail(&tx, "declined") == 0);
  CHECK(is_zero(&tx));
  CHECK(pmtrace_fail(&tx, NULL) == PMTRACE_ERR_NOPROGRESS);
  CHECK(pmtrace_is_captured(&tx) == 0);
  CHECK(pmtrace_note(&tx, "route", "/cart") == 0);
  CHECK(pmtrace_is_captured(NULL) == 0);
  CHECK(pmtrace_note(NULL, "route", "/cart") == 0);
  CHECK(pmtrace_note_number(NULL, "rows", 12.5) == 0);
  CHECK(pmtrace_link(NULL, "no header") == 0);
  CHECK(pmtrace_want(NULL, NULL) == 0);
  CHECK(pmtrace_fail(NULL, "declined") == PMTRACE_ERR_NOPROGRESS);
  CHECK(pmtrace_begin(pmtrace_tag("noted"), &tx) == 0);
  CHECK(pmtrace_end(&tx) == 0);
}

static void transaction_that_is_open_when_tracing_is_switched_off(void) {
  pmtrace_tx tx;
  memset(&tx, 0, sizeof tx);
  CHECK(pmtrace_begin(pmtrace_tag("switched off"), &tx) == 0);
  CHECK(pmtracestate(PMTRACE_STATE_NOAGENT) == PMTRACE_STATE_NONE);
  CHECK(pmtrace_end(&tx) == 0);
  CHECK(is_zero(&tx));
  CHECK(pmtrace_abort(NULL) == 0);
  CHECK(pmtracestate(PMTRACE_STATE_NONE) == PMTRACE_STATE_NOAGENT);
  CHECK(pmtrace_end(&tx) == PMTRACE_ERR_NOPROGRESS);
}

static void* end_it(void* tx) {
  CHECK(pmtrace_end(tx) == 0);
  return NULL;
}

static void transaction_that_ends_on_another_thread(void) {
  pmtrace_tx tx;
  pthread_t thread;
  CHECK(pmtrace_begin(pmtrace_tag("across threads"), &tx) == 0);
  CHECK(pthread_create(&thread, NULL, end_it, &tx) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(is_zero(&tx));
}

static void acknowledged_calls(void) {
  CHECK(pmtracestate(PMTRACE_STATE_SYNC) == PMTRACE_STATE_NONE);
  CHECK(pmtracepoint("acknowledged") == 0);
  CHECK(pmtrace_point(pmtrace_tag("acknowledged")) == 0);
  CHECK(pmtracestate(PMTRACE_STATE_NONE) == PMTRACE_STATE_SYNC);
}

static void mmv(void) {
  char longest[66];
  memset(longest, 'x', 65);
  longest[65] = '\0';
  CHECK(pmtrace_mmv(NULL) == -EINVAL);
  CHECK(pmtrace_mmv("") == -EINVAL);
  CHECK(pmtrace_mmv("2_shops") == -EINVAL);
  CHECK(pmtrace_mmv("my-shop") == -EINVAL);
  CHECK(pmtrace_mmv(longest) == -EINVAL);
  CHECK(pmtrace_mmv("shop_2") == -EBUSY); /* there were calls */
}

static void flush_and_statistics(void) {
  pmtrace_stats_t stats, part;
  CHECK(pmtrace_flush(60) == 1);
  CHECK(pmtrace_stats(NULL, sizeof stats) == -EINVAL);
  memset(&stats, 0xff, sizeof stats);
  CHECK(pmtrace_stats(&stats, sizeof stats) == 0);
  CHECK(stats.connected == 1);
  CHECK(stats.version == 1 || stats.version == 2);
  CHECK(stats.recorded > 0);
  CHECK(stats.recorded == stats.acknowledged + stats.undeliverable);
  CHECK(stats.pending == 0);
  CHECK(stats.uncertain == 0);
  CHECK(stats.aborted == 6);
  CHECK(stats.batches > 0);
  CHECK(stats.reconnects == 0);
  CHECK(stats.labels_cut == 0 && stats.labels_over == 0);
  CHECK(stats.unlisted == 0);

  memset(&part, 0xff, sizeof part); /* as if built with a smaller, older structure */
  CHECK(pmtrace_stats(&part, sizeof part.recorded) == 0);
  CHECK(part.recorded == stats.recorded);
  CHECK(part.acknowledged == UINT64_MAX);
}

int main(void) {
  calls_by_name();
  tags();
  tags_with_labels();
  calls_by_handle();
  transactions();
  other_tags_at_the_end();
  traces();
  notes();
  transaction_that_is_open_when_tracing_is_switched_off();
  transaction_that_ends_on_another_thread();
  acknowledged_calls();
  mmv();
  flush_and_statistics();
  return 0;
}
