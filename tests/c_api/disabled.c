/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With PMTRACE_DISABLE every call compiles in all forms that C allows, returns success, evaluates
 * no argument and needs no library: this program is linked without it. */
#define PMTRACE_DISABLE
#include <pcp/trace.h>
#include <string.h>

static int evaluated;

static const char* tag(void) {
  evaluated = 1;
  return "tag";
}

/* Programs may take a function's address. */
static int address_is_taken(int (*call)(const char*)) { return call("tag"); }

static struct { unsigned waiting : 3; } queue;

int main(void) {
  pmtrace_tx tx;
  pmtrace_stats_t stats;
  char parent[PMTRACE_CONTEXT_SIZE], state[PMTRACE_CONTEXT_STATE_SIZE];
  pmtrace_handle handle = pmtrace_tag(tag());
  pmtrace_label label = {"name", "value"};
  int failed = pmtrace_tag_with(tag(), &label, 1) != NULL;
  (void)handle;
  (void)tx;
  (void)stats;
  failed |= pmtracebegin(tag());
  failed |= pmtraceend(tag());
  failed |= pmtraceabort(tag());
  failed |= pmtracepoint(tag());
  failed |= pmtraceobs(tag(), 1.0);
  failed |= pmtracecounter(tag(), 1.0);
  failed |= pmtracecount(tag(), 1.0);
  failed |= pmtraceadd(tag(), 1.0);
  failed |= pmtrace_tag_add_labels(handle, &label, 1) != NULL;
  failed |= pmtrace_tag_text(handle) != NULL;
  failed |= pmtraceobs("tag", queue.waiting);
  failed |= address_is_taken(pmtracepoint) | address_is_taken(&pmtracebegin);
  failed |= pmtracestate(PMTRACE_STATE_ASYNC);
  failed |= pmtrace_point(handle);
  failed |= pmtrace_observe(handle, 1.0);
  failed |= pmtrace_count(handle, 1.0);
  failed |= pmtrace_add(handle, 1.0);
  failed |= pmtrace_begin(handle, &tx) | pmtrace_begin_at(handle, 1, &tx);
  failed |= pmtrace_end(&tx);
  failed |= pmtrace_abort(&tx);
  failed |= pmtrace_end_as(&tx, handle) | pmtrace_abort_as(&tx, handle);
  failed |= pmtrace_begin_from(handle, &tx, tag(), tag());
  failed |= pmtrace_begin_under(handle, &tx, &tx);
  failed |= pmtrace_begin_from_at(handle, 1, &tx, tag(), tag());
  failed |= pmtrace_begin_under_at(handle, 1, &tx, &tx);
  failed |= pmtrace_attach(&tx) | pmtrace_detach(&tx);
  failed |= pmtrace_context(&tx, parent, sizeof parent) | (*parent != '\0');
  failed |= pmtrace_context_state(&tx, state, sizeof state) | (*state != '\0');
  failed |= pmtrace_context(&tx, parent, 1) == 0;
  failed |= pmtrace_is_captured(&tx) | pmtrace_note(&tx, tag(), tag());
  failed |= pmtrace_note_number(&tx, tag(), 1.0) | pmtrace_link(&tx, tag());
  failed |= pmtrace_want(&tx, tag());
  failed |= pmtrace_fail(&tx, tag()) | pmtrace_fail_as(&tx, handle, tag());
  failed |= pmtrace_mmv(tag());
  failed |= !pmtrace_flush(1.0);
  failed |= pmtrace_stats(&stats, sizeof stats);
  failed |= strcmp(pmtraceerrstr(0), "No error.") != 0;
  return failed || evaluated;
}
