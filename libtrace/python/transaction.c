/*
 * Transactions: with blocks, and those that the program ends itself.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <Python.h>
#include <stddef.h>
#include <structmember.h>

#include "native.h"

/* CPython's vectorcall: of the stable ABI from 3.12 on, and the same in 3.11, which is complete. */
enum { kHaveVectorcall = 1 << 11 };
static const size_t kArgumentsOffset = (size_t)1 << (8 * sizeof(size_t) - 1);

/* Functions of their own, which a block that traces nothing leaves out with the room for text. */
#define RARE static __attribute__((noinline))

/* Asks a captured one for no headers: that would show it as one that calls other programs. */
RARE int is_open_in_trace(const pmtrace_tx* tx) {
  char text[PMTRACE_CONTEXT_SIZE];
  if (!library.is_captured(tx) && library.context(tx, text, sizeof text) <= 0) return 0;
  library.detach(tx);
  return 1;
}

static int is_in_trace(const pmtrace_tx* tx) {
  return tx->opaque[0] != 0 && is_open_in_trace(tx); /* 0: tracing is off, or this is no tag */
}

RARE int begin_under(Tag* tag, uint64_t start_ns, pmtrace_tx* tx, Transaction* around) {
  library.begin_under_at(tag->handle, start_ns, tx, &around->tx);
  Py_DECREF((PyObject*)around);
  is_in_trace(tx);
  return 1; /* in no trace, it keeps what begins inside from the one around it */
}

int begin_inside(Tag* tag, uint64_t start_ns, pmtrace_tx* tx) {
  tx->opaque[0] = 0;
  Transaction* const around = may_be_inside() ? current_transaction(tag->state) : NULL;
  if (around != NULL) return begin_under(tag, start_ns, tx, around);
  if (start_ns == 0)
    library.begin(tag->handle, tx);
  else
    library.begin_at(tag->handle, start_ns, tx);
  return is_in_trace(tx);
}

static PyObject* call(Transaction* self, PyObject* const* given, size_t count, PyObject* names);

RARE Transaction* allocate(Tag* tag) {
  Transaction* const self = PyObject_New(Transaction, tag->state->transaction_type);
  if (self == NULL) return NULL;
  self->call = call;
  self->tag = tag;
  self->labels = NULL;
  self->before = self->within = NULL;
  return self;
}

/* The tag's freed transaction serves again: Python's allocator would take a fifth of the time of a
 * block that traces nothing. */
static Transaction* take_spare(Tag* tag) {
  Transaction* const self = tag->spare;
  tag->spare = NULL;
  Py_INCREF((PyObject*)Py_TYPE((PyObject*)self));
  Py_SET_REFCNT((PyObject*)self, 1);
  return self;
}

Transaction* new_transaction(Tag* tag) {
  Transaction* const self = tag->spare != NULL ? take_spare(tag) : allocate(tag);
  if (self == NULL) return NULL;
  Py_INCREF((PyObject*)tag);
  self->tx = (pmtrace_tx){{0}};
  self->process = this_process;
  self->step = kNew;
  self->is_looked_up = self->is_entered = self->is_in_trace = self->was_current = 0;
  return self;
}

static PyObject* begun(Transaction* self, int is_in_trace) {
  self->step = kOpen;
  self->is_in_trace = is_in_trace != 0;
  return (PyObject*)self;
}

/* The time is by time.monotonic(). */
PyObject* begin_now(Tag* tag, PyObject* since) {
  const double seconds = since != Py_None ? number_of("since", "a number of seconds", since) : 0;
  if (seconds == -1 && PyErr_Occurred()) return NULL;
  Transaction* const self = new_transaction(tag);
  if (self == NULL) return NULL;
  const uint64_t start_ns = seconds > 0 && seconds < 9e9 ? (uint64_t)(seconds * 1e9) : 0;
  return begun(self, begin_inside(tag, start_ns, &self->tx));
}

PyObject* begin_from_headers(Tag* tag, PyObject* headers) {
  PyObject* const found = PyObject_CallFunctionObjArgs(tag->state->find_headers, headers, NULL);
  if (found == NULL) return NULL;
  Transaction* const self = new_transaction(tag);
  if (self != NULL) {
    library.begin_from(tag->handle, &self->tx, header_text(PyTuple_GetItem(found, 0)),
                       header_text(PyTuple_GetItem(found, 1)));
    begun(self, is_in_trace(&self->tx));
  }
  Py_DECREF(found);
  return (PyObject*)self;
}

/* Gives the tag of the end; NULL if the library refuses a label, and then says so. */
static pmtrace_handle last_tag(const Transaction* self) {
  if (self->labels == NULL) return self->tag->handle;
  pmtrace_label labels[kMostLabels + 1];
  const size_t count = fill_labels(self->labels, labels);
  return library.tag_add_labels(self->tag->handle, labels, count);
}

/* Gives the transaction to end, in *copy if the bytes must stay; NULL: there is nothing to end. */
static pmtrace_tx* ending(Transaction* self, pmtrace_tx* copy) {
  const int is_open = self->step == kOpen && self->process == this_process;
  self->step = kEnded;
  if (!is_open || self->tx.opaque[0] == 0) return NULL;
  if (!self->was_current) return &self->tx;
  *copy = self->tx;
  return copy;
}

RARE void end_labelled(Transaction* self, pmtrace_tx* tx) { library.end_as(tx, last_tag(self)); }

static void end(Transaction* self) {
  pmtrace_tx copy, *tx = ending(self, &copy);
  if (tx == NULL) return;
  if (self->labels == NULL)
    library.end(tx);
  else
    end_labelled(self, tx);
}

/* reason: clean, or NULL. */
RARE void fail(Transaction* self, PyObject* reason) {
  pmtrace_tx copy, *tx = ending(self, &copy);
  if (tx != NULL) library.fail_as(tx, last_tag(self), reason != NULL ? utf8_of(reason) : NULL);
}

RARE void fail_by(Transaction* self, PyObject* exception) {
  PyObject* const reason = library.is_captured(&self->tx) ? reason_of(exception) : NULL;
  fail(self, reason);
  Py_XDECREF(reason);
}

void enter_transaction(Transaction* self) {
  self->is_entered = 1;
  if (self->is_in_trace || may_be_inside()) push_current(self);
}

/* Closing a generator is no failure. */
void exit_transaction(Transaction* self, PyObject* exception) {
  if (exception == NULL || exception == Py_None ||
      PyErr_GivenExceptionMatches(exception, PyExc_GeneratorExit))
    end(self);
  else
    fail_by(self, exception);
  self->is_entered = 0;
  if (!self->was_current) return;
  PyObject *type, *value, *traceback; /* what a handler of a signal has raised */
  PyErr_Fetch(&type, &value, &traceback);
  pop_current(self);
  PyErr_Restore(type, value, traceback);
}

/* Takes those around it away, the inner ones first: each would free the next one in a deeper call.
 */
static void leave_outer(Transaction* self) {
  Transaction* outer = self->before;
  self->before = NULL;
  while (outer != NULL && Py_REFCNT((PyObject*)outer) == 1) {
    Transaction* const next = outer->before;
    outer->before = NULL;
    Py_DECREF((PyObject*)outer);
    outer = next;
  }
  Py_XDECREF((PyObject*)outer);
}

RARE void leave_contexts(Transaction* self) {
  atomic_fetch_sub_explicit(&transactions_in_contexts, 1, memory_order_relaxed);
  leave_outer(self);
  Py_CLEAR(self->within);
}

static void transaction_free(Transaction* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  Tag* const tag = self->tag;
  if (self->step == kOpen) fail(self, NULL); /* the program forgot to end it */
  if (self->was_current) leave_contexts(self);
  if (self->labels != NULL) Py_CLEAR(self->labels);
#ifndef Py_GIL_DISABLED /* there, an object has more than a count */
  if (tag->spare == NULL)
    tag->spare = self;
  else
#endif
    PyObject_Free(self);
  Py_DECREF((PyObject*)tag);
  Py_DECREF((PyObject*)type);
}

RARE PyObject* enter(Transaction* self) {
  if (self->is_entered || self->step == kEnded)
    return PyErr_Format(PyExc_RuntimeError,
                        "a transaction is for one with block: make one for each");
  if (self->step == kNew) begun(self, begin_inside(self->tag, 0, &self->tx));
  enter_transaction(self);
  return Py_NewRef((PyObject*)self);
}

RARE PyObject* leave(Transaction* self, PyObject* exception) {
  exit_transaction(self, exception);
  return exception != Py_None && PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject* end_now(Transaction* self, PyObject* Py_UNUSED(none)) {
  end(self);
  return Py_NewRef(Py_None);
}

static PyObject* abort_now(Transaction* self, PyObject* Py_UNUSED(none)) {
  fail(self, NULL);
  return Py_NewRef(Py_None);
}

static PyObject* fail_now(Transaction* self, PyObject* reason) {
  if (PyObject_IsInstance(reason, PyExc_BaseException) == 1) {
    fail_by(self, reason);
    if (PyErr_Occurred()) return NULL;
  } else {
    PyObject* const clean = clean_text("reason", reason);
    if (clean == NULL) return NULL;
    fail(self, clean);
    Py_DECREF(clean);
  }
  return Py_NewRef(Py_None);
}

static PyObject* label(Transaction* self, PyObject* const* given, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "label() takes a key and a value");
    return NULL;
  }
  PyObject* const key = clean_text("key", given[0]);
  PyObject* const value = key != NULL ? clean_label(given[0], given[1]) : NULL;
  int status = value != NULL ? 0 : -1;
  if (status == 0 && self->labels == NULL && (self->labels = PyDict_New()) == NULL) status = -1;
  if (status == 0) status = PyDict_SetItem(self->labels, key, value);
  Py_XDECREF(key);
  Py_XDECREF(value);
  return status == 0 ? Py_NewRef(Py_None) : NULL;
}

static int is_captured(const Transaction* self) {
  return self->step == kOpen && self->process == this_process && library.is_captured(&self->tx);
}

/* Types are checked also if nobody sees the note: no monitor may bring out a fault of the program.
 */
static PyObject* note(Transaction* self, PyObject* const* given, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "note() takes a key and a value");
    return NULL;
  }
  PyObject* const value = given[1];
  const int is_text = PyUnicode_Check(value);
  if (!is_text && !PyLong_Check(value) && !PyFloat_Check(value))
    return refuse_type("value", "str, int or float", value);
  if (!PyUnicode_Check(given[0])) return refuse_type("key", "str", given[0]);
  if (!is_captured(self)) return Py_NewRef(Py_None);
  PyObject* const key = clean_text("key", given[0]);
  PyObject* const text = key != NULL && is_text ? clean_text("value", value) : NULL;
  if (text != NULL)
    library.note(&self->tx, utf8_of(key), utf8_of(text));
  else if (key != NULL && !is_text)
    library.note_number(&self->tx, utf8_of(key), number_of("value", "a number", value));
  Py_XDECREF(key);
  Py_XDECREF(text);
  return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject* link_to(Transaction* self, PyObject* traceparent) {
  if (!PyUnicode_Check(traceparent) && !PyBytes_Check(traceparent))
    return refuse_type("traceparent", "str or bytes", traceparent);
  if (is_captured(self)) library.link(&self->tx, header_text(traceparent));
  return Py_NewRef(Py_None);
}

static PyObject* want(Transaction* self, PyObject* arguments, PyObject* names) {
  static char* kArguments[] = {"why", NULL};
  PyObject* why = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "|O:want", kArguments, &why)) return NULL;
  if (why != Py_None && !PyUnicode_Check(why)) return refuse_type("why", "str or None", why);
  if (!is_captured(self)) return Py_NewRef(Py_None);
  PyObject* const text = why != Py_None ? clean_text("why", why) : NULL;
  if (!PyErr_Occurred()) library.want(&self->tx, text != NULL ? utf8_of(text) : NULL);
  Py_XDECREF(text);
  return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject* headers(Transaction* self, PyObject* Py_UNUSED(none)) {
  return make_headers(&self->tx);
}

/* For the generators of _helpers.py: what is current inside is put away while one is suspended. */
static PyObject* suspend(Transaction* self, PyObject* Py_UNUSED(none)) {
  if (self->was_current) {
    Py_XDECREF((PyObject*)self->within);
    self->within = current_transaction(self->tag->state);
    make_current(self->tag->state, self->before);
  }
  return Py_NewRef(Py_None);
}

static PyObject* resume(Transaction* self, PyObject* Py_UNUSED(none)) {
  if (self->was_current) {
    Py_XDECREF((PyObject*)self->before);
    self->before = current_transaction(self->tag->state);
    make_current(self->tag->state, self->within);
    Py_CLEAR(self->within);
  }
  return Py_NewRef(Py_None);
}

RARE PyObject* decorate(Transaction* self, PyObject* function) {
  if (!PyCallable_Check(function)) return refuse_type("function", "callable", function);
  return PyObject_CallFunctionObjArgs(self->tag->state->decorate, self->tag, function, NULL);
}

/*
 * A with block looks up __enter__ and __exit__, binds both to the transaction, and calls the
 * results with no and with three arguments. Bound methods would be two objects for each block, and
 * a third of its time. So both are bound to the transaction itself, whose call tells them by the
 * number of arguments; with one it is a decorator. Other calls are mistakes, such as
 * @transaction("x")().
 */
static PyObject* call(Transaction* self, PyObject* const* given, size_t count, PyObject* names) {
  count &= ~kArgumentsOffset;
  if (names == NULL) {
    if (count == 0 && self->step == kUntraced) {
      self->step = kEnded;
      return Py_NewRef((PyObject*)self);
    }
    if (count == 0 && self->is_looked_up) return enter(self);
    if (count == 1) return decorate(self, given[0]);
    if (count == 3 && self->is_looked_up) return leave(self, given[1]);
  }
  return PyErr_Format(PyExc_TypeError, "a transaction decorates one function");
}

/* The same for callers that have a tuple. */
static PyObject* call_with_tuple(Transaction* self, PyObject* arguments, PyObject* names) {
  PyObject* given[3] = {NULL, NULL, NULL};
  const Py_ssize_t count = PyTuple_Size(arguments);
  for (Py_ssize_t i = 0; i < count && i < 3; ++i) given[i] = PyTuple_GetItem(arguments, i);
  return call(self, given, (size_t)count, names != NULL && PyDict_Size(names) > 0 ? names : NULL);
}

typedef struct {
  PyObject head;
  PyTypeObject* transaction_type;
  PyObject* leave_untraced; /* NULL in __enter__ */
} BlockMethod;

/* While tracing is off, __exit__ is a function that knows no transaction: Python calls this faster.
 */
static PyObject* bind(PyObject* self, PyObject* object, PyObject* Py_UNUSED(type)) {
  const BlockMethod* const method = (BlockMethod*)self;
  if (object == NULL || !Py_IS_TYPE(object, method->transaction_type)) return Py_NewRef(self);
  Transaction* const transaction = (Transaction*)object;
  transaction->is_looked_up = 1;
  if (method->leave_untraced != NULL && transaction->step <= kUntraced) {
    transaction->step = is_switched_off() && !may_be_inside() ? kUntraced : kNew;
    if (transaction->step == kUntraced) return Py_NewRef(method->leave_untraced);
  }
  return Py_NewRef(object);
}

static PyObject* leave_untraced(PyObject* Py_UNUSED(none), PyObject* const* Py_UNUSED(given),
                                Py_ssize_t count) {
  if (count == 3) return Py_NewRef(Py_None);
  return PyErr_Format(PyExc_TypeError, "__exit__ takes an exception's type, value and traceback");
}

/* Type(transaction).__exit__(transaction, ...), as contextlib calls it. */
static PyObject* call_unbound(PyObject* self, PyObject* arguments, PyObject* names) {
  struct state* const state = PyType_GetModuleState(Py_TYPE(self));
  PyObject* const first = PyTuple_Size(arguments) > 0 ? PyTuple_GetItem(arguments, 0) : Py_None;
  if (!Py_IS_TYPE(first, state->transaction_type))
    return refuse_type("the first argument", "Transaction", first);
  ((Transaction*)first)->is_looked_up = 1;
  PyObject* const rest = PyTuple_GetSlice(arguments, 1, PyTuple_Size(arguments));
  PyObject* const result = rest != NULL ? call_with_tuple((Transaction*)first, rest, names) : NULL;
  Py_XDECREF(rest);
  return result;
}

/* The type owns the methods and all that they point to. */
static int add_block_methods(PyObject* module, PyObject* transaction_type) {
  static PyMethodDef leave = {"__exit__", (PyCFunction)(void (*)(void))leave_untraced,
                              METH_FASTCALL, NULL};
  static PyType_Slot slots[] = {
      {Py_tp_descr_get, bind}, {Py_tp_call, call_unbound}, {Py_tp_traverse, visit_type}, {0}};
  static PyType_Spec spec = {.name = "pcp_trace._native.BlockMethod",
                             .basicsize = sizeof(BlockMethod),
                             .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                             .slots = slots};
  PyObject* const type = PyType_FromModuleAndSpec(module, &spec, NULL);
  PyObject* const entering = type != NULL ? PyObject_CallNoArgs(type) : NULL;
  PyObject* const leaving = entering != NULL ? PyObject_CallNoArgs(type) : NULL;
  PyObject* const untraced = leaving != NULL ? PyCFunction_New(&leave, NULL) : NULL;
  int is_made = untraced != NULL;
  if (is_made) {
    ((BlockMethod*)entering)->transaction_type = (PyTypeObject*)transaction_type;
    ((BlockMethod*)leaving)->transaction_type = (PyTypeObject*)transaction_type;
    ((BlockMethod*)leaving)->leave_untraced = untraced;
    is_made = PyObject_SetAttrString(transaction_type, "__enter__", entering) == 0 &&
              PyObject_SetAttrString(transaction_type, "__exit__", leaving) == 0 &&
              PyObject_SetAttrString(transaction_type, "_leave_untraced", untraced) == 0;
  }
  Py_XDECREF(type);
  Py_XDECREF(entering);
  Py_XDECREF(leaving);
  Py_XDECREF(untraced);
  return is_made;
}

#define METHOD(name, function, flags, text) \
  { name, (PyCFunction)(void (*)(void))function, flags, text }

static PyMethodDef methods[] = {
    METHOD("end", end_now, METH_NOARGS, "end($self)\n--\n\nEnds it."),
    METHOD("abort", abort_now, METH_NOARGS, "abort($self)\n--\n\nEnds it as failed."),
    METHOD(
        "fail", fail_now, METH_O,
        "fail($self, reason, /)\n--\n\nEnds it as failed, with a reason: a text or an exception."),
    METHOD("label", label, METH_FASTCALL,
           "label($self, key, value, /)\n--\n\nAdds a label to the tag under which it will end."),
    METHOD("note", note, METH_FASTCALL,
           "note($self, key, value, /)\n--\n\nNotes a text or a number, if it is captured."),
    METHOD("link", link_to, METH_O,
           "link($self, traceparent, /)\n--\n\nNotes a related trace, if it is captured."),
    METHOD("want", want, METH_VARARGS | METH_KEYWORDS,
           "want($self, why=None)\n--\n\nAsks for the whole request, if it is captured."),
    METHOD("headers", headers, METH_NOARGS,
           "headers($self)\n--\n\nGives the headers for an outgoing request."),
    METHOD("_suspend", suspend, METH_NOARGS, NULL),
    METHOD("_resume", resume, METH_NOARGS, NULL),
    {0}};

PyObject* make_transaction_type(PyObject* module) {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Transaction, call), READONLY, NULL}, {0}};
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, transaction_free},
      {Py_tp_call, call_with_tuple},
      {Py_tp_members, members},
      {Py_tp_methods, methods},
      {Py_tp_doc, "A transaction: for one with block, for begin and end, or as a decorator."},
      {0}};
  static PyType_Spec spec = {
      .name = "pcp_trace.Transaction",
      .basicsize = sizeof(Transaction),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | kHaveVectorcall,
      .slots = slots};
  PyObject* const type = PyType_FromModuleAndSpec(module, &spec, NULL);
  if (type != NULL && add_block_methods(module, type)) return type;
  Py_XDECREF(type);
  return NULL;
}
