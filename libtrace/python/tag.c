/*
 * Tags, looked up once, and the calls that record something at once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "native.h"

/* Tags that a program makes up without end must not fill its memory with Python's objects, too. */
enum { kMostTags = 4096 };

size_t fill_labels(PyObject* dict, pmtrace_label labels[kMostLabels + 1]) {
  size_t count = 0;
  Py_ssize_t at = 0;
  PyObject *name, *value;
  while (count <= kMostLabels && PyDict_Next(dict, &at, &name, &value)) {
    labels[count].name = utf8_of(name);
    labels[count++].value = utf8_of(value);
  }
  return count;
}

/* Gives the handle of a key; NULL, which the library reports, if it is no tag. */
static pmtrace_handle look_up(PyObject* key) {
  if (PyUnicode_Check(key)) return library.tag_with(utf8_of(key), NULL, 0);
  pmtrace_label labels[kMostLabels + 1];
  size_t count = 0;
  for (Py_ssize_t i = 1; i < PyTuple_Size(key) && count <= kMostLabels; i += 2) {
    labels[count].name = utf8_of(PyTuple_GetItem(key, i));
    labels[count++].value = utf8_of(PyTuple_GetItem(key, i + 1));
  }
  return library.tag_with(utf8_of(PyTuple_GetItem(key, 0)), labels, count);
}

static Tag* make_tag(struct state* state, PyObject* key) {
  Tag* const tag = PyObject_GC_New(Tag, state->tag_type);
  if (tag == NULL) return NULL;
  tag->state = state;
  tag->spare = NULL;
  tag->handle = look_up(key);
  if (PyDict_Size(state->tags) >= kMostTags) PyDict_Clear(state->tags);
  PyObject_GC_Track((PyObject*)tag);
  if (PyDict_SetItem(state->tags, key, (PyObject*)tag) == 0) return tag;
  Py_DECREF(tag);
  return NULL;
}

/* Takes over the key. */
static Tag* tag_of(struct state* state, PyObject* key) {
  if (key == NULL) return NULL;
  PyObject* const known = PyDict_GetItemWithError(state->tags, key);
  Tag* tag = (Tag*)Py_XNewRef(known);
  if (tag == NULL && !PyErr_Occurred()) tag = make_tag(state, key);
  Py_DECREF(key);
  return tag;
}

/* Begins the key of a name with labels. */
static PyObject* begin_key(PyObject* name, Py_ssize_t labels) {
  PyObject* const clean = clean_text("name", name);
  PyObject* const key = clean != NULL ? PyTuple_New(1 + 2 * labels) : NULL;
  if (key != NULL)
    PyTuple_SetItem(key, 0, clean);
  else
    Py_XDECREF(clean);
  return key;
}

static int add_label(PyObject* key, Py_ssize_t i, PyObject* name, PyObject* value) {
  PyObject* const text = clean_label(name, value);
  PyObject* const label = text != NULL ? clean_text("label", name) : NULL;
  if (text != NULL) PyTuple_SetItem(key, 2 + 2 * i, text);
  if (label != NULL) PyTuple_SetItem(key, 1 + 2 * i, label);
  return label != NULL;
}

Tag* find_tag(struct state* state, PyObject* name, PyObject* const* values, PyObject* names) {
  if (names == NULL) {
    PyObject* const known =
        PyUnicode_Check(name) ? PyDict_GetItemWithError(state->tags, name) : NULL;
    if (known != NULL) return (Tag*)Py_NewRef(known);
    PyErr_Clear();
    return tag_of(state, clean_text("name", name));
  }
  const Py_ssize_t count = PyTuple_Size(names);
  PyObject* key = begin_key(name, count);
  for (Py_ssize_t i = 0; key != NULL && i < count; ++i)
    if (!add_label(key, i, PyTuple_GetItem(names, i), values[i])) Py_CLEAR(key);
  return tag_of(state, key);
}

static PyObject* tag_new(PyTypeObject* type, PyObject* arguments, PyObject* labels) {
  struct state* const state = PyType_GetModuleState(type);
  PyObject* name;
  if (!PyArg_UnpackTuple(arguments, "Tag", 1, 1, &name)) return NULL;
  if (labels == NULL || PyDict_Size(labels) == 0)
    return (PyObject*)find_tag(state, name, NULL, NULL);
  PyObject* key = begin_key(name, PyDict_Size(labels));
  Py_ssize_t at = 0, i = 0;
  PyObject *label, *value;
  while (key != NULL && PyDict_Next(labels, &at, &label, &value))
    if (!add_label(key, i++, label, value)) Py_CLEAR(key);
  return (PyObject*)tag_of(state, key);
}

int visit_type(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT((PyObject*)Py_TYPE(self));
  return 0;
}

static void tag_free(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  PyObject_Free(((Tag*)self)->spare);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static PyObject* tag_repr(PyObject* self) {
  const char* const text = library.tag_text(((Tag*)self)->handle);
  return PyUnicode_FromFormat("<pcp_trace.Tag %s>", text != NULL ? text : "that is not traced");
}

/* A captured point or value belongs to the thread's innermost transaction. */

PyObject* tag_point(Tag* tag) {
  Transaction* const around = may_be_inside() ? attach_current(tag->state) : NULL;
  library.point(tag->handle);
  detach_current(around);
  return Py_NewRef(Py_None);
}

PyObject* tag_record(Tag* tag, int (*call)(pmtrace_handle, double), PyObject* value) {
  const double number = number_of("value", "a number", value);
  if (number == -1 && PyErr_Occurred()) return NULL;
  Transaction* const around = may_be_inside() ? attach_current(tag->state) : NULL;
  call(tag->handle, number);
  detach_current(around);
  return Py_NewRef(Py_None);
}

PyObject* tag_describe(Tag* tag, PyObject* const* texts, Py_ssize_t count) {
  static const char* const kArguments[] = {"unit", "text"};
  PyObject* clean[] = {NULL, NULL};
  int is_right = 1;
  for (Py_ssize_t i = 0; i < count && i < 2 && is_right; ++i)
    is_right = (clean[i] = clean_text(kArguments[i], texts[i])) != NULL;
  if (is_right)
    library.describe(tag->handle, clean[0] != NULL ? utf8_of(clean[0]) : NULL,
                     clean[1] != NULL ? utf8_of(clean[1]) : NULL);
  Py_XDECREF(clean[0]);
  Py_XDECREF(clean[1]);
  return is_right ? Py_NewRef(Py_None) : NULL;
}

static PyObject* point(PyObject* self, PyObject* Py_UNUSED(none)) { return tag_point((Tag*)self); }

static PyObject* observe(PyObject* self, PyObject* value) {
  return tag_record((Tag*)self, library.observe, value);
}

static PyObject* add(PyObject* self, PyObject* value) {
  return tag_record((Tag*)self, library.add, value);
}

static PyObject* count(PyObject* self, PyObject* value) {
  return tag_record((Tag*)self, library.count, value);
}

static PyObject* describe(PyObject* self, PyObject* const* texts, Py_ssize_t number) {
  if (number == 2) return tag_describe((Tag*)self, texts, number);
  PyErr_SetString(PyExc_TypeError, "describe() takes the unit and the text");
  return NULL;
}

static PyObject* transaction(PyObject* self, PyObject* Py_UNUSED(none)) {
  return (PyObject*)new_transaction((Tag*)self);
}

static PyObject* begin(PyObject* self, PyObject* arguments, PyObject* names) {
  static char* kArguments[] = {"since", NULL};
  PyObject* since = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "|O:begin", kArguments, &since)) return NULL;
  return begin_now((Tag*)self, since);
}

static PyObject* from(PyObject* self, PyObject* headers) {
  return begin_from_headers((Tag*)self, headers);
}

static PyMethodDef methods[] = {
    {"point", point, METH_NOARGS, "point($self)\n--\n\nCounts a point."},
    {"observe", observe, METH_O,
     "observe($self, value, /)\n--\n\nRecords a value that goes up and down."},
    {"add", add, METH_O,
     "add($self, value, /)\n--\n\nAdds to a counter; negative increments add nothing."},
    {"count", count, METH_O, "count($self, value, /)\n--\n\nRecords a counter's value so far."},
    {"describe", (PyCFunction)(void (*)(void))describe, METH_FASTCALL,
     "describe($self, unit, text, /)\n--\n\nSets the unit and the meaning."},
    {"transaction", transaction, METH_NOARGS,
     "transaction($self)\n--\n\nGives a transaction for a with block, or a decorator."},
    {"begin", (PyCFunction)(void (*)(void))begin, METH_VARARGS | METH_KEYWORDS,
     "begin($self, since=None)\n--\n\nBegins a transaction, now or at a time of time.monotonic()."},
    {"begin_from", from, METH_O,
     "begin_from($self, headers, /)\n--\n\nBegins a transaction in the trace of a request's "
     "headers."},
    {0}};

PyObject* make_tag_type(PyObject* module) {
  static PyType_Slot slots[] = {{Py_tp_new, tag_new},
                                {Py_tp_dealloc, tag_free},
                                {Py_tp_traverse, visit_type},
                                {Py_tp_repr, tag_repr},
                                {Py_tp_methods, methods},
                                {Py_tp_doc, "Tag(name, /, **labels)\n--\n\nA tag, looked up once."},
                                {0}};
  static PyType_Spec spec = {
      .name = "pcp_trace.Tag",
      .basicsize = sizeof(Tag),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC,
      .slots = slots};
  return PyType_FromModuleAndSpec(module, &spec, NULL);
}
