/*
 * From Python's values to C's. Wrong types raise TypeErrors; no content does, since tracing must
 * not break a program that traces what its users have typed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <math.h>
#include <string.h>

#include "native.h"

void* refuse_type(const char* argument, const char* wanted, PyObject* given) {
  PyObject* const type = PyType_GetName(Py_TYPE(given));
  if (type != NULL) PyErr_Format(PyExc_TypeError, "%s must be %s, not %U", argument, wanted, type);
  Py_XDECREF(type);
  return NULL;
}

static PyObject* replace(PyObject* text) {
  PyObject* const encoded = PyUnicode_AsEncodedString(text, "utf-8", "replace");
  if (encoded == NULL) return NULL;
  char* const bytes = PyBytes_AsString(encoded);
  const Py_ssize_t size = PyBytes_Size(encoded);
  for (char* at = bytes; (at = memchr(at, '\0', (size_t)(bytes + size - at))) != NULL;) *at = '?';
  PyObject* const clean = PyUnicode_DecodeUTF8(bytes, size, NULL);
  Py_DECREF(encoded);
  return clean;
}

/* Gives no object of a subclass, which may compare by code of the program. */
PyObject* clean_text(const char* argument, PyObject* text) {
  if (!PyUnicode_Check(text)) return refuse_type(argument, "str", text);
  Py_ssize_t size;
  const char* const utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  if (utf8 != NULL && strlen(utf8) == (size_t)size) return PyUnicode_FromObject(text);
  PyErr_Clear();
  return replace(text);
}

/* In hexadecimal if Python refuses so many decimal digits. Runs no code of a subclass, and unlike
 * str() no handler of a signal, whose exception would be taken for that refusal. */
static PyObject* text_of_int(PyObject* value) {
  if (PyBool_Check(value)) return PyUnicode_FromString(value == Py_True ? "True" : "False");
  PyObject* const text = PyNumber_ToBase(value, 10);
  if (text != NULL || !PyErr_ExceptionMatches(PyExc_ValueError)) return text;
  PyErr_Clear();
  return PyNumber_ToBase(value, 16);
}

PyObject* clean_label(PyObject* name, PyObject* value) {
  if (PyLong_Check(value)) return text_of_int(value);
  if (PyUnicode_Check(value)) return clean_text("", value);
  PyObject* const argument = PyUnicode_FromFormat("label %R", name);
  const char* const text = argument != NULL ? PyUnicode_AsUTF8AndSize(argument, NULL) : NULL;
  if (text != NULL) refuse_type(text, "str or int", value);
  Py_XDECREF(argument);
  return NULL;
}

const char* utf8_of(PyObject* text) {
  const char* const utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
  if (utf8 == NULL) PyErr_Clear();
  return utf8;
}

double number_of(const char* argument, const char* wanted, PyObject* value) {
  const double number = PyFloat_AsDouble(value);
  if (number != -1 || !PyErr_Occurred()) return number;
  if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
    PyErr_Clear();
    PyObject* const zero = PyLong_FromLong(0);
    const int is_negative = zero != NULL && PyObject_RichCompareBool(value, zero, Py_LT) == 1;
    PyErr_Clear();
    Py_XDECREF(zero);
    return is_negative ? -HUGE_VAL : HUGE_VAL;
  }
  if (PyErr_ExceptionMatches(PyExc_ValueError)) { /* such as Decimal's signalling NaN */
    PyErr_Clear();
    return NAN;
  }
  if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    refuse_type(argument, wanted, value);
  }
  return -1;
}

const char* header_text(PyObject* header) {
  Py_ssize_t size = 0;
  char* bytes = NULL;
  const char* text = NULL;
  if (PyUnicode_Check(header)) {
    text = PyUnicode_AsUTF8AndSize(header, &size);
  } else if (PyBytes_Check(header) && PyBytes_AsStringAndSize(header, &bytes, &size) == 0) {
    text = bytes;
  }
  PyErr_Clear();
  if (text == NULL || strlen(text) != (size_t)size) return NULL;
  for (Py_ssize_t i = 0; i < size; ++i)
    if ((unsigned char)text[i] >= 0x80) return NULL;
  return text;
}

/* As a traceback shows it, without a message that fails. Handlers of signals also run here: what
 * they raise is not dropped. */
PyObject* reason_of(PyObject* exception) {
  if (PyErr_CheckSignals() != 0) return NULL;
  PyObject* const message = PyObject_Str(exception);
  if (message == NULL && !PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
  PyErr_Clear();
  PyObject* const type = (PyObject*)Py_TYPE(exception);
  PyObject* const module = PyObject_GetAttrString(type, "__module__");
  PyObject* const name = PyType_GetQualName((PyTypeObject*)type);
  PyErr_Clear();
  PyObject* text = NULL;
  if (name != NULL) {
    const int is_plain = module == NULL || !PyUnicode_Check(module) ||
                         PyUnicode_CompareWithASCIIString(module, "builtins") == 0;
    const int has_message = message != NULL && PyUnicode_GetLength(message) > 0;
    text = PyUnicode_FromFormat("%V%s%U%s%V", is_plain ? NULL : module, "", is_plain ? "" : ".",
                                name, has_message ? ": " : "", has_message ? message : NULL, "");
  }
  PyObject* const clean = text != NULL ? clean_text("reason", text) : NULL;
  PyErr_Clear();
  Py_XDECREF(module);
  Py_XDECREF(name);
  Py_XDECREF(message);
  Py_XDECREF(text);
  return clean;
}
