/*
 * Python's binding, module pcp_trace._native: shared by its files. The stable ABI of CPython 3.11,
 * so one file serves all later versions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef PCP_TRACE_NATIVE_H
#define PCP_TRACE_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pcp/trace.h>
#include <stdatomic.h>

#pragma GCC diagnostic ignored "-Wpedantic" /* slots of types hold functions as void* */

/* library.c: the C library, which is loaded at run time: without it, all calls do nothing. */
#define FOR_EACH_CALL(X) \
  X(tag_with)            \
  X(tag_add_labels)      \
  X(tag_text)            \
  X(describe)            \
  X(point)               \
  X(observe)             \
  X(count)               \
  X(add)                 \
  X(begin)               \
  X(begin_at)            \
  X(begin_from)          \
  X(begin_under_at)      \
  X(end)                 \
  X(end_as)              \
  X(abort)               \
  X(fail_as)             \
  X(attach)              \
  X(detach)              \
  X(context)             \
  X(context_state)       \
  X(is_captured)         \
  X(note)                \
  X(note_number)         \
  X(link)                \
  X(want)                \
  X(flush)               \
  X(stats)

struct calls {
#define DECLARE_CALL(name) __typeof__(pmtrace_##name)* name;
  FOR_EACH_CALL(DECLARE_CALL)
#undef DECLARE_CALL
};
extern struct calls library;

/* Its state flags: negative while calls have nothing to do. 0 without this library. */
extern const atomic_int* library_state;
static inline int is_switched_off(void) {
  return atomic_load_explicit(library_state, memory_order_relaxed) < 0;
}

/* Once in a process; says once on standard error why there is none of ours. */
void load_library(void);
/* The default of PCP_TRACE_SERVICE. Comes before all other calls. */
void set_service(const char* name);
/* Delivers, and ends the process at once. Returns if the library cannot. */
void deliver_and_exit(int status);

/* The module's state: each interpreter has its own. */
struct state {
  PyTypeObject* tag_type;
  PyTypeObject* transaction_type;
  PyTypeObject* function_type;
  PyObject* tags; /* by name, or by a tuple of the name, and the name and value of each label */
  PyObject* get_current; /* methods of the ContextVar; the default is None */
  PyObject* set_current;
  PyObject* decorate; /* of pcp_trace/_helpers.py */
  PyObject* find_headers;
  PyObject* bind; /* types.MethodType */
};

typedef struct {
  PyObject head;
  pmtrace_handle handle;
  struct state* state;
  struct Transaction* spare; /* memory for the next transaction: a freed one of this tag, or NULL */
} Tag;

/* Untraced: tracing was off when its __exit__ was looked up, so its block has nothing to end. */
enum { kNew, kUntraced, kOpen, kEnded };

typedef struct Transaction {
  PyObject head;
  PyObject* (*call)(struct Transaction*, PyObject* const*, size_t, PyObject*);
  Tag* tag;
  pmtrace_tx tx;    /* if it was current, it stays as it was: the parent of what begins later */
  PyObject* labels; /* a dict, or NULL */
  struct Transaction* before; /* current before; NULL: none */
  struct Transaction* within; /* current inside of a generator that is suspended */
  unsigned process;           /* only the process that began it may end it */
  unsigned char step;
  unsigned char is_looked_up; /* its __enter__ or __exit__: only then is a call one of these */
  unsigned char is_entered;
  unsigned char is_in_trace; /* what begins inside must know of it */
  unsigned char was_current; /* it is counted by context.c */
} Transaction;

/* text.c */

/* TypeError: "ARGUMENT must be WANTED, not the type of GIVEN". Gives NULL. */
void* refuse_type(const char* argument, const char* wanted, PyObject* given);
/* Gives a str that C can hold: '?' replaces NUL and halves of surrogate pairs. Refuses other types.
 */
PyObject* clean_text(const char* argument, PyObject* text);
/* The same for a label, which may also be an int. */
PyObject* clean_label(PyObject* name, PyObject* value);
/* Requires: text is clean. NULL only without memory. */
const char* utf8_of(PyObject* text);
/* Gives a number, ±inf beyond a double's range. Refuses other types: -1 with an exception set. */
double number_of(const char* argument, const char* wanted, PyObject* value);
/* Gives the text of a header, for C; NULL if it is not ASCII or has a NUL. */
const char* header_text(PyObject* header);
/* Gives type and message of an exception as a clean str; NULL without memory, or with an exception
 * set if a handler of a signal raised one. */
PyObject* reason_of(PyObject* exception);

/* tag.c */
PyObject* make_tag_type(PyObject* module);
/* For objects that the module keeps: it ends with its interpreter only if the collector sees that
 * they lead back to it. */
int visit_type(PyObject* self, visitproc visit, void* arg);
/* Gives the tag of a call tag(name, *, name=value...): a new reference. */
Tag* find_tag(struct state* state, PyObject* name, PyObject* const* values, PyObject* names);
/* Puts the values of a dict into labels; gives their number, at most one more than a tag may have.
 */
enum { kMostLabels = 16 };
size_t fill_labels(PyObject* dict, pmtrace_label labels[kMostLabels + 1]);
/* The calls on a tag with value or texts, for methods and for functions by name. */
PyObject* tag_point(Tag* tag);
PyObject* tag_record(Tag* tag, int (*call)(pmtrace_handle, double), PyObject* value);
PyObject* tag_describe(Tag* tag, PyObject* const* texts, Py_ssize_t count);

/* transaction.c */
PyObject* make_transaction_type(PyObject* module);
PyObject* make_function_type(PyObject* module); /* function.c */
Transaction* new_transaction(Tag* tag);
PyObject* begin_now(Tag* tag, PyObject* since);
PyObject* begin_from_headers(Tag* tag, PyObject* headers);
/* Begins inside of the current transaction, at a time of the clock or, with 0, now. Gives whether
 * what begins inside must know of it. */
int begin_inside(Tag* tag, uint64_t start_ns, pmtrace_tx* tx);
void enter_transaction(Transaction* self);
/* Ends or, with an exception, aborts it; then what was current before is current again. With an
 * exception, another one may be set then: that of a handler of a signal. */
void exit_transaction(Transaction* self, PyObject* exception);

/* context.c: the current transaction of this task or thread. */
extern unsigned this_process; /* another number after each fork */
extern atomic_long transactions_in_contexts;
static inline int may_be_inside(void) {
  return atomic_load_explicit(&transactions_in_contexts, memory_order_relaxed) != 0;
}
/* Gives a new reference; NULL: none. */
Transaction* current_transaction(struct state* state);
void make_current(struct state* state, Transaction* transaction); /* NULL: none */
void push_current(Transaction* self);
void pop_current(Transaction* self);
int count_forks(void);
/* Attaches the current transaction to the thread, for calls that look there, and detaches it. */
Transaction* attach_current(struct state* state);
void detach_current(Transaction* around);
/* Gives the headers for an outgoing request; NULL: those of the thread. */
PyObject* make_headers(const pmtrace_tx* tx);

#endif
