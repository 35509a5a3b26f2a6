/*
 * The current transaction: a context variable, so that each task and each thread has its own. The
 * library knows the transactions of threads only, on which tasks take turns; so each transaction is
 * detached from its thread at once.
 *
 * The variable is used only for transactions that are in a trace. `transactions_in_contexts` counts
 * those that ever were current, until they are freed: while it is 0, no context can have one, and a
 * begin looks for none.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <pthread.h>

#include "native.h"

unsigned this_process = 0;
atomic_long transactions_in_contexts = 0;

static void note_child(void) { ++this_process; }
int count_forks(void) { return pthread_atfork(NULL, NULL, note_child); }

static Transaction* known(struct state* state) {
  PyObject* const found = PyObject_CallNoArgs(state->get_current);
  if (found == NULL) PyErr_Clear();
  if (found != NULL && Py_IS_TYPE(found, state->transaction_type)) return (Transaction*)found;
  Py_XDECREF(found);
  return NULL;
}

/* Those of a parent process are unknown to the library in this one. */
Transaction* current_transaction(struct state* state) {
  if (!may_be_inside()) return NULL;
  Transaction* const found = known(state);
  if (found == NULL || found->process == this_process) return found;
  Py_DECREF(found);
  return NULL;
}

Transaction* attach_current(struct state* state) {
  Transaction* const around = current_transaction(state);
  if (around != NULL) library.attach(&around->tx);
  return around;
}

void detach_current(Transaction* around) {
  if (around == NULL) return;
  library.detach(&around->tx);
  Py_DECREF((PyObject*)around);
}

void make_current(struct state* state, Transaction* transaction) {
  PyObject* const value = transaction != NULL ? (PyObject*)transaction : Py_None;
  PyObject* const token = PyObject_CallFunctionObjArgs(state->set_current, value, NULL);
  if (token == NULL) PyErr_Clear();
  Py_XDECREF(token);
}

void push_current(Transaction* self) {
  Transaction* const around = current_transaction(self->tag->state);
  if (!self->is_in_trace && around == NULL) return;
  if (!self->was_current)
    atomic_fetch_add_explicit(&transactions_in_contexts, 1, memory_order_relaxed);
  self->was_current = 1;
  Py_XDECREF((PyObject*)self->before);
  self->before = around;
  make_current(self->tag->state, self);
}

/*
 * Blocks may end in another order if generators are suspended inside of them, and in a context that
 * never had them. So this takes out only itself, with those inside that have ended, and only where
 * it is.
 */
void pop_current(Transaction* self) {
  Transaction* const current = known(self->tag->state);
  Transaction* innermost = current;
  while (innermost != NULL && innermost != self && innermost->step == kEnded &&
         !innermost->is_entered)
    innermost = innermost->before;
  if (innermost == self) {
    make_current(self->tag->state, self->before);
    if (current == self) Py_CLEAR(self->before);
  } else {
    while (innermost != NULL && innermost->before != self) innermost = innermost->before;
    if (innermost != NULL) {
      innermost->before = (Transaction*)Py_XNewRef((PyObject*)self->before);
      Py_DECREF(self);
    }
  }
  Py_XDECREF((PyObject*)current);
}

static int add_header(PyObject* headers, const char* name, const char* text, int length) {
  if (length <= 0) return 0;
  PyObject* const value = PyUnicode_FromStringAndSize(text, length);
  const int status = value != NULL ? PyDict_SetItemString(headers, name, value) : -1;
  Py_XDECREF(value);
  return status;
}

PyObject* make_headers(const pmtrace_tx* tx) {
  PyObject* const headers = PyDict_New();
  if (headers == NULL) return NULL;
  char parent[PMTRACE_CONTEXT_SIZE];
  char state[PMTRACE_CONTEXT_STATE_SIZE];
  if (add_header(headers, "traceparent", parent, library.context(tx, parent, sizeof parent)) == 0 &&
      add_header(headers, "tracestate", state, library.context_state(tx, state, sizeof state)) == 0)
    return headers;
  Py_DECREF(headers);
  return NULL;
}
