/*
 * A decorated function: each call is a transaction. Looks like the function (functools.wraps gives
 * it a name and so on), and is a method in a class.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <Python.h>
#include <stddef.h>
#include <structmember.h>

#include "native.h"

typedef struct {
  PyObject head;
  Tag* tag;
  PyObject* function;
  PyObject* attributes;
  PyObject* weak_references;
} Function;

/* In a trace, or after an exception: the call as a transaction that can be current. */
static Transaction* make_transaction(Tag* tag, const pmtrace_tx* tx, int is_in_trace) {
  Transaction* const self = new_transaction(tag);
  if (self == NULL) return NULL;
  self->tx = *tx;
  self->step = kOpen;
  self->is_in_trace = is_in_trace != 0;
  return self;
}

static void finish(Transaction* transaction, PyObject* result) {
  if (result != NULL) {
    exit_transaction(transaction, NULL);
    return;
  }
  PyObject *type, *exception, *traceback;
  PyErr_Fetch(&type, &exception, &traceback);
  PyErr_NormalizeException(&type, &exception, &traceback);
  exit_transaction(transaction, exception);
  if (!PyErr_Occurred()) {
    PyErr_Restore(type, exception, traceback);
    return;
  }
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  PyErr_Fetch(&type, &result, &traceback);
  PyErr_NormalizeException(&type, &result, &traceback);
  PyException_SetContext(result, exception);
  PyErr_Restore(type, result, traceback);
}

static PyObject* call_in_trace(Function* self, PyObject* arguments, PyObject* names,
                               pmtrace_tx* tx) {
  Transaction* const transaction = make_transaction(self->tag, tx, 1);
  if (transaction == NULL) {
    library.abort(tx);
    return NULL;
  }
  enter_transaction(transaction);
  PyObject* const result = PyObject_Call(self->function, arguments, names);
  finish(transaction, result);
  Py_DECREF((PyObject*)transaction);
  return result;
}

static PyObject* call(Function* self, PyObject* arguments, PyObject* names) {
  pmtrace_tx tx;
  const unsigned process = this_process;
  Tag* const tag = self->tag;
  if (begin_inside(tag, 0, &tx)) return call_in_trace(self, arguments, names, &tx);
  PyObject* const result = PyObject_Call(self->function, arguments, names);
  if (tx.opaque[0] == 0 || process != this_process) return result;
  if (result != NULL)
    library.end(&tx);
  else
    library.abort(&tx);
  return result;
}

static PyObject* function_new(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  PyObject *tag, *function;
  struct state* const state = PyType_GetModuleState(type);
  if (names != NULL || !PyArg_UnpackTuple(arguments, "Function", 2, 2, &tag, &function) ||
      !Py_IS_TYPE(tag, state->tag_type))
    return PyErr_Occurred() ? NULL : refuse_type("tag", "Tag", names != NULL ? names : tag);
  Function* const self = PyObject_GC_New(Function, type);
  if (self == NULL) return NULL;
  self->tag = (Tag*)Py_NewRef(tag);
  self->function = Py_NewRef(function);
  self->attributes = self->weak_references = NULL;
  PyObject_GC_Track(self);
  return (PyObject*)self;
}

static int traverse(Function* self, visitproc visit, void* arg) {
  Py_VISIT((PyObject*)Py_TYPE((PyObject*)self));
  Py_VISIT((PyObject*)self->tag);
  Py_VISIT(self->function);
  Py_VISIT(self->attributes);
  return 0;
}

static int clear(Function* self) {
  Py_CLEAR(self->attributes);
  return 0;
}

static void function_free(Function* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  PyObject_GC_UnTrack(self);
  PyObject_ClearWeakRefs((PyObject*)self);
  Py_XDECREF(self->attributes);
  Py_XDECREF(self->function);
  Py_DECREF((PyObject*)self->tag);
  PyObject_GC_Del(self);
  Py_DECREF((PyObject*)type);
}

/* Binds to an object as a function does. */
static PyObject* bind(PyObject* self, PyObject* object, PyObject* Py_UNUSED(type)) {
  if (object == NULL || object == Py_None) return Py_NewRef(self);
  struct state* const state = ((Function*)self)->tag->state;
  return PyObject_CallFunctionObjArgs(state->bind, self, object, NULL);
}

/* For pickle: by name, as a function. */
static PyObject* reduce(PyObject* self, PyObject* Py_UNUSED(none)) {
  return PyObject_GetAttrString(self, "__qualname__");
}

/* inspect takes what has these for a function. */
static PyObject* of_function(PyObject* self, void* name) {
  return PyObject_GetAttrString(((Function*)self)->function, name);
}

#define OF_FUNCTION(name) \
  { name, of_function, NULL, NULL, (void*)name }

PyObject* make_function_type(PyObject* module) {
  static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, NULL}, {0}};
  static PyMemberDef members[] = {
      {"__dictoffset__", T_PYSSIZET, offsetof(Function, attributes), READONLY, NULL},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(Function, weak_references), READONLY, NULL},
      {0}};
  static PyGetSetDef properties[] = {
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
      OF_FUNCTION("__code__"),
      OF_FUNCTION("__defaults__"),
      OF_FUNCTION("__kwdefaults__"),
      OF_FUNCTION("__globals__"),
      OF_FUNCTION("__closure__"),
      {0}};
  static PyType_Slot slots[] = {{Py_tp_new, function_new},  {Py_tp_dealloc, function_free},
                                {Py_tp_traverse, traverse}, {Py_tp_clear, clear},
                                {Py_tp_call, call},         {Py_tp_descr_get, bind},
                                {Py_tp_members, members},   {Py_tp_methods, methods},
                                {Py_tp_getset, properties}, {0}};
  static PyType_Spec spec = {
      .name = "pcp_trace._native.Function",
      .basicsize = sizeof(Function),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR,
      .slots = slots};
  return PyType_FromModuleAndSpec(module, &spec, NULL);
}
