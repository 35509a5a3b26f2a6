/*
 * The module: its functions, which take a tag by name, and its state.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "native.h"

static struct state* state_of(PyObject* module) { return PyModule_GetState(module); }

/* Gives the tag of a call NAME(tag, `count` values, *, label=value...). */
static Tag* named(PyObject* module, const char* call, const char* wanted, Py_ssize_t values,
                  PyObject* const* given, Py_ssize_t count, PyObject* names) {
  if (count == 1 + values) return find_tag(state_of(module), given[0], given + count, names);
  PyErr_Format(PyExc_TypeError, "%s() takes %s, and labels by their names", call, wanted);
  return NULL;
}

#define CALL(function, wanted, values, work)                                            \
  static PyObject* function(PyObject* module, PyObject* const* given, Py_ssize_t count, \
                            PyObject* names) {                                          \
    Tag* const tag = named(module, #function, wanted, values, given, count, names);     \
    PyObject* const result = tag != NULL ? work : NULL;                                 \
    Py_XDECREF((PyObject*)tag);                                                         \
    return result;                                                                      \
  }

CALL(point, "a tag", 0, tag_point(tag))
CALL(observe, "a tag and a value", 1, tag_record(tag, library.observe, given[1]))
CALL(add, "a tag and a value", 1, tag_record(tag, library.add, given[1]))
CALL(count, "a tag and a value", 1, tag_record(tag, library.count, given[1]))
CALL(describe, "a tag, the unit and the text", 2, tag_describe(tag, given + 1, 2))
CALL(transaction, "a tag", 0, (PyObject*)new_transaction(tag))
CALL(begin, "a tag", 0, begin_now(tag, Py_None))
CALL(begin_from, "a tag and a request's headers", 1, begin_from_headers(tag, given[1]))

static PyObject* headers(PyObject* module, PyObject* Py_UNUSED(none)) {
  Transaction* const around = current_transaction(state_of(module));
  PyObject* const texts = make_headers(around != NULL ? &around->tx : NULL);
  Py_XDECREF((PyObject*)around);
  return texts;
}

static uint64_t lost(void) {
  pmtrace_stats_t now = {0};
  library.stats(&now, sizeof now);
  return now.uncertain + now.undeliverable;
}

/* Python's signal handlers run between waits. Each wait is longer than the one before, since it
 * also has to deliver what other threads have recorded meanwhile. */
static PyObject* flush(PyObject* module, PyObject* timeout) {
  (void)module;
  double left = number_of("timeout", "a number of seconds", timeout);
  if (left == -1 && PyErr_Occurred()) return NULL;
  const uint64_t lost_before = lost();
  for (double wait = 0.05;; left -= wait, wait *= 2) {
    const int is_last = !(wait < left);
    int is_done;
    Py_BEGIN_ALLOW_THREADS is_done = library.flush(is_last ? left : wait);
    Py_END_ALLOW_THREADS if (PyErr_CheckSignals() != 0) return NULL;
    const int has_failed = lost() != lost_before; /* the next wait would not know */
    if (is_done || is_last || has_failed) return PyBool_FromLong(is_done && !has_failed);
  }
}

static PyObject* stats(PyObject* module, PyObject* Py_UNUSED(none)) {
  (void)module;
  pmtrace_stats_t now;
  library.stats(&now, sizeof now);
#define COUNT(name) #name, (unsigned long long)now.name
  return Py_BuildValue("{sKsKsKsKsKsKsKsKsKsKsisisKsKsK}", COUNT(recorded), COUNT(acknowledged),
                       COUNT(pending), COUNT(uncertain), COUNT(merged), COUNT(thinned),
                       COUNT(undeliverable), COUNT(aborted), COUNT(batches), COUNT(reconnects),
                       "connected", now.connected, "version", now.version, COUNT(labels_cut),
                       COUNT(labels_over), COUNT(unlisted));
}

/* A child begins in the transaction around its fork: the library looks at the forking thread. */
static PyObject* before_fork(PyObject* module, PyObject* Py_UNUSED(none)) {
  Py_XDECREF((PyObject*)attach_current(state_of(module)));
  return Py_NewRef(Py_None);
}

static PyObject* after_fork(PyObject* module, PyObject* Py_UNUSED(none)) {
  detach_current(current_transaction(state_of(module)));
  return Py_NewRef(Py_None);
}

static PyObject* exit_now(PyObject* module, PyObject* status) {
  (void)module;
  int number;
  if (!PyArg_Parse(status, "i", &number)) return NULL;
  deliver_and_exit(number);
  return Py_NewRef(Py_None);
}

static PyObject* name_service(PyObject* module, PyObject* name) {
  (void)module;
  PyObject* const clean = clean_text("name", name);
  if (clean == NULL) return NULL;
  set_service(utf8_of(clean));
  Py_DECREF(clean);
  return Py_NewRef(Py_None);
}

/* Gives whether this is the first time: the package may be reloaded. */
static PyObject* connect(PyObject* module, PyObject* helpers) {
  struct state* const state = state_of(module);
  if (state->set_current != NULL) return Py_NewRef(Py_False);
  PyObject* variable;
  if (!PyArg_ParseTuple(helpers, "OOOO", &variable, &state->decorate, &state->find_headers,
                        &state->bind))
    return NULL;
  Py_INCREF(state->decorate);
  Py_INCREF(state->find_headers);
  Py_INCREF(state->bind);
  state->get_current = PyObject_GetAttrString(variable, "get");
  state->set_current = PyObject_GetAttrString(variable, "set");
  return state->get_current != NULL && state->set_current != NULL ? Py_NewRef(Py_True) : NULL;
}

/* Python reads a signature that stands before "--". */
#define FAST(name, function, parameters, text)                                  \
  {                                                                             \
    name, (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, \
        name "($module, " parameters ", /, **labels)\n--\n\n" text              \
  }

static PyMethodDef methods[] = {
    FAST("point", point, "name", "Counts a point."),
    FAST("observe", observe, "name, value", "Records a value that goes up and down."),
    FAST("add", add, "name, value", "Adds to a counter; negative increments add nothing."),
    FAST("count", count, "name, value", "Records a counter's value so far."),
    FAST("describe", describe, "name, unit, text", "Sets the unit and the meaning of a tag."),
    FAST("transaction", transaction, "name",
         "Gives a transaction for a with block, or a decorator."),
    FAST("begin", begin, "name", "Begins a transaction."),
    FAST("begin_from", begin_from, "name, headers",
         "Begins a transaction in the trace of a request's headers."),
    {"headers", headers, METH_NOARGS,
     "headers($module)\n--\n\nGives the headers for an outgoing request, from here."},
    {"flush", flush, METH_O,
     "flush($module, timeout, /)\n--\n\nWaits until the agent has all earlier calls, or so many "
     "seconds."},
    {"stats", stats, METH_NOARGS, "stats($module)\n--\n\nGives the library's own counters."},
    {"before_fork", before_fork, METH_NOARGS, NULL},
    {"after_fork", after_fork, METH_NOARGS, NULL},
    {"exit_now", exit_now, METH_O, NULL},
    {"name_service", name_service, METH_O, NULL},
    {"connect", connect, METH_VARARGS, NULL},
    {0}};

static int execute(PyObject* module) {
  static atomic_flag is_counting_forks = ATOMIC_FLAG_INIT;
  struct state* const state = state_of(module);
  load_library();
  if (!atomic_flag_test_and_set(&is_counting_forks) && count_forks() != 0) return -1;
  state->tag_type = (PyTypeObject*)make_tag_type(module);
  state->transaction_type = (PyTypeObject*)make_transaction_type(module);
  state->function_type = (PyTypeObject*)make_function_type(module);
  state->tags = PyDict_New();
  if (state->tag_type == NULL || state->transaction_type == NULL || state->function_type == NULL ||
      state->tags == NULL)
    return -1;
  if (PyModule_AddType(module, state->tag_type) != 0 ||
      PyModule_AddType(module, state->transaction_type) != 0 ||
      PyModule_AddType(module, state->function_type) != 0)
    return -1;
  return 0;
}

#define FOR_EACH_OBJECT(X) \
  X(tag_type)              \
  X(transaction_type)      \
  X(function_type) X(tags) X(get_current) X(set_current) X(decorate) X(find_headers) X(bind)

static int traverse(PyObject* module, visitproc visit, void* arg) {
  struct state* const state = state_of(module);
#define VISIT(name) Py_VISIT((PyObject*)state->name);
  FOR_EACH_OBJECT(VISIT)
  return 0;
}

static int clear(PyObject* module) {
  struct state* const state = state_of(module);
#define CLEAR(name) Py_CLEAR(state->name);
  FOR_EACH_OBJECT(CLEAR)
  return 0;
}

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) {
  /* Python 3.12's slot 3: each interpreter may have a lock of its own (2). */
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}, {0, NULL}};
  static PyModuleDef module = {.m_base = PyModuleDef_HEAD_INIT,
                               .m_name = "pcp_trace._native",
                               .m_size = sizeof(struct state),
                               .m_methods = methods,
                               .m_slots = slots,
                               .m_traverse = traverse,
                               .m_clear = clear};
  if (Py_Version >= 0x030C0000) slots[1] = (PyModuleDef_Slot){3, (void*)2};
  return PyModuleDef_Init(&module);
}
