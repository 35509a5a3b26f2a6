/*
 * Application tracing for Performance Co-Pilot: the C interface.
 *
 * A program marks transactions (begin, end, abort), points, observations and counters; the library
 * hands what it collects to the agent pmdatrace, and PCP's tools read it as trace.* metrics. A call
 * makes no system call and takes no lock. See pmtrace(3).
 *
 * Copyright (c) 2026 the pcp-trace authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef PCP_TRACE_H
#define PCP_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define PMTRACE_VERSION 20100 /* 2.1.0 */

#ifdef __cplusplus
extern "C" {
#endif

/* Error codes. pmtraceerrstr turns these and negative errno values into text. */
#define PMTRACE_ERR_BASE 12000
#define PMTRACE_ERR_TAGNAME (-PMTRACE_ERR_BASE - 0)     /* no tag: NULL or empty */
#define PMTRACE_ERR_INPROGRESS (-PMTRACE_ERR_BASE - 1)  /* begin: already open */
#define PMTRACE_ERR_NOPROGRESS (-PMTRACE_ERR_BASE - 2)  /* end, abort: not open */
#define PMTRACE_ERR_NOSUCHTAG (-PMTRACE_ERR_BASE - 3)   /* end, abort: this tag never began */
#define PMTRACE_ERR_TAGTYPE (-PMTRACE_ERR_BASE - 4)     /* never returned */
#define PMTRACE_ERR_TAGLENGTH (-PMTRACE_ERR_BASE - 5)   /* a tag has at most 254 bytes */
#define PMTRACE_ERR_IPC (-PMTRACE_ERR_BASE - 6)         /* the agent breaks the protocol */
#define PMTRACE_ERR_ENVFORMAT (-PMTRACE_ERR_BASE - 7)   /* never returned: defaults are used */
#define PMTRACE_ERR_TIMEOUT (-PMTRACE_ERR_BASE - 8)     /* the agent did not answer in time */
#define PMTRACE_ERR_VERSION (-PMTRACE_ERR_BASE - 9)     /* never returned */
#define PMTRACE_ERR_PERMISSION (-PMTRACE_ERR_BASE - 10) /* this host is not let in */
#define PMTRACE_ERR_CONNLIMIT (-PMTRACE_ERR_BASE - 11)  /* the agent has too many connections */

/* State flags. */
#define PMTRACE_STATE_NONE 0     /* default */
#define PMTRACE_STATE_API 1      /* diagnostics: calls */
#define PMTRACE_STATE_COMMS 2    /* diagnostics: connections */
#define PMTRACE_STATE_PDU 4      /* diagnostics: PDUs */
#define PMTRACE_STATE_PDUBUF 8   /* diagnostics: bytes of PDUs */
#define PMTRACE_STATE_NOAGENT 16 /* no communication at all */
#define PMTRACE_STATE_ASYNC 32   /* after the first call, no error of the connection */
#define PMTRACE_STATE_SYNC 64    /* every call returns after the agent has acknowledged it */

/* A tag, looked up once. Never freed; valid in a forked child. */
typedef const struct pmtrace_tag_record* pmtrace_handle;

/* A label of a tag: distinguishes tags of one name. */
typedef struct {
  const char* name;
  const char* value;
} pmtrace_label;

/* An open transaction. The caller owns the memory, the library the contents. Not open while the
 * first word is zero. */
typedef struct {
  uint64_t opaque[8];
} pmtrace_tx;

/* Room for the texts of pmtrace_context and pmtrace_context_state. */
#define PMTRACE_CONTEXT_SIZE 56
#define PMTRACE_CONTEXT_STATE_SIZE 513

/* The library's own counters since the start of this process; a forked child starts at zero. */
typedef struct {
  uint64_t recorded;     /* calls */
  uint64_t acknowledged; /* of those, calls that the agent has acknowledged */
  uint64_t pending;      /* calls that wait to be sent or to be acknowledged */
  uint64_t uncertain;    /* calls sent, but the agent cannot tell whether they were counted */
  uint64_t merged;  /* calls that found their thread's queue full and were added up on the spot */
  uint64_t thinned; /* of merged: values that are missing in percentiles */
  uint64_t undeliverable; /* calls whose tag a stock agent cannot take (125 bytes or more) */
  uint64_t aborted;       /* aborted transactions, counted when they are sent */
  uint64_t batches;       /* batches sent, or chunks to a stock agent */
  uint64_t reconnects;    /* connections made after the first one */
  int32_t connected;      /* 1: an agent is connected now */
  int32_t version;        /* the agent's protocol: 1 stock, 2 ours; 0: none yet */
  uint64_t labels_cut;    /* handles with labels that got the bare name: too long */
  uint64_t labels_over;   /* handles with labels that got the bare name: too many label sets */
  uint64_t unlisted;      /* begins while too many were open: counted in flight, but without age */
} pmtrace_stats_t;

#ifndef PMTRACE_DISABLE

/* The calls by name. They return 0 or a negative error code. */
extern int pmtracebegin(const char* tag);
extern int pmtraceend(const char* tag);
extern int pmtraceabort(const char* tag);
extern int pmtracepoint(const char* tag);
extern int pmtraceobs(const char* tag, double value);
extern int pmtracecounter(const char* tag, double value);
extern int pmtraceadd(const char* tag, double increment); /* as pmtrace_add; not in PCP's library */

/* Replaces the state flags; gives the old ones. -EINVAL: ASYNC after a connection was made. */
extern int pmtracestate(int flags);

/* Never NULL. Do not free the text. */
extern char* pmtraceerrstr(int code);

/* NULL if the name is no tag (1 to 254 bytes), or if there is no memory. */
extern pmtrace_handle pmtrace_tag(const char* name);

/* The same for a name with labels, in any order: name{route=/cart;zone=eu}. Gives the bare name's
 * handle if the whole is too long, or the name has too many label sets. NULL also if a label's name
 * is not [a-z][a-z0-9_]*, belongs to PCP, or comes twice, or if there are more than 16 labels. */
extern pmtrace_handle pmtrace_tag_with(const char* name, const pmtrace_label* labels, size_t count);

/* The tag with these labels as well; a later value of a label replaces an earlier one, also one
 * that the tag has. NULL for a NULL handle, and otherwise as above. Fast for short labels that the
 * thread has used lately. */
extern pmtrace_handle pmtrace_tag_add_labels(pmtrace_handle tag, const pmtrace_label* labels,
                                             size_t count);

/* The tag as text for the calls by name: its name, with its labels as above. NULL for a NULL
 * handle. */
extern const char* pmtrace_tag_text(pmtrace_handle tag);

/* Describes a tag: the unit of its values ("ms", "bytes"), and its meaning. Either text may be
 * NULL. Returns 0 or a negative error code. */
extern int pmtrace_describe(pmtrace_handle tag, const char* unit, const char* text);

/* The calls by handle. Outside the state SYNC they never wait, and never return an error of the
 * connection. They return 0 or a negative error code. */
extern int pmtrace_point(pmtrace_handle tag);
extern int pmtrace_observe(pmtrace_handle tag, double value);
extern int pmtrace_count(pmtrace_handle tag, double value);

/* Adds to the total of all threads and programs for this tag. `increment` must be finite and not
 * negative, else -EINVAL. */
extern int pmtrace_add(pmtrace_handle tag, double increment);

/* Opens a transaction in *tx and ignores the old contents. End and abort set it to zero. They may
 * come on another thread. */
extern int pmtrace_begin(pmtrace_handle tag, pmtrace_tx* tx);
extern int pmtrace_end(pmtrace_tx* tx);
extern int pmtrace_abort(pmtrace_tx* tx);

/* Begin for a transaction that began earlier, such as a request that waited in a queue: at this
 * time of clock_gettime's monotonic clock, in nanoseconds. 0, or a time in the future: now. */
extern int pmtrace_begin_at(pmtrace_handle tag, uint64_t start_ns, pmtrace_tx* tx);

/* End and abort for a transaction whose tag is known only at its end, such as the first one with
 * the label "status". It is counted, timed and captured under this tag; until then it is in flight
 * under the first one. A NULL handle: ends under the first one, and gives PMTRACE_ERR_TAGNAME. */
extern int pmtrace_end_as(pmtrace_tx* tx, pmtrace_handle tag);
extern int pmtrace_abort_as(pmtrace_tx* tx, pmtrace_handle tag);

/* Traces: what one request causes in all programs that it passes through, by W3C's Trace Context. A
 * transaction that begins on a thread belongs to the trace of the innermost transaction open there:
 * one that began on this thread, or is attached to it. */

/* Begins a transaction for a request, inside of the trace in the request's headers. With NULL or
 * invalid headers, the transaction is in no trace of other programs. */
extern int pmtrace_begin_from(pmtrace_handle tag, pmtrace_tx* tx, const char* traceparent,
                              const char* tracestate);

/* Begins a transaction inside of `parent`, which may be of another thread, a copy, or ended. NULL:
 * no parent. */
extern int pmtrace_begin_under(pmtrace_handle tag, pmtrace_tx* tx, const pmtrace_tx* parent);

/* The same two for a transaction that began earlier, as pmtrace_begin_at. */
extern int pmtrace_begin_from_at(pmtrace_handle tag, uint64_t start_ns, pmtrace_tx* tx,
                                 const char* traceparent, const char* tracestate);
extern int pmtrace_begin_under_at(pmtrace_handle tag, uint64_t start_ns, pmtrace_tx* tx,
                                  const pmtrace_tx* parent);

/* Attach puts new transactions of this thread inside of *tx; detach ends that. For threads that
 * work on several requests by turns. */
extern int pmtrace_attach(const pmtrace_tx* tx);
extern int pmtrace_detach(const pmtrace_tx* tx);

/* Writes the headers for an outgoing request of *tx, or with NULL of the thread's innermost
 * transaction: 55 characters, or at most 512, plus a NUL. Gives the length; 0 without a trace.
 * -EINVAL if `size` is less than the sizes above. */
extern int pmtrace_context(const pmtrace_tx* tx, char* traceparent, size_t size);
extern int pmtrace_context_state(const pmtrace_tx* tx, char* tracestate, size_t size);

/* Notes on a transaction that is captured for a monitor: attributes, a related trace, and the
 * reason of an abort. For other transactions these calls note nothing; the last two always abort.
 * -EINVAL: the key is not of 1 to 128 bytes, or the header is invalid. */
extern int pmtrace_is_captured(const pmtrace_tx* tx);
extern int pmtrace_note(pmtrace_tx* tx, const char* key, const char* value);
extern int pmtrace_note_number(pmtrace_tx* tx, const char* key, double value);
extern int pmtrace_link(pmtrace_tx* tx, const char* traceparent);

/* Asks monitors with the word `wanted` for the whole request of *tx, in all programs. `why` becomes
 * the note "wanted", NULL: no note. Does nothing if *tx has ended or is not captured. */
extern int pmtrace_want(pmtrace_tx* tx, const char* why);
extern int pmtrace_fail(pmtrace_tx* tx, const char* reason);
extern int pmtrace_fail_as(pmtrace_tx* tx, pmtrace_handle tag, const char* reason);

/* Waits until the agent has acknowledged all earlier calls, at most `timeout` seconds; if that is
 * negative, as the end of the process waits: while there is progress. 1 if it has, else 0. */
extern int pmtrace_flush(double timeout);

/* Also writes this process's totals to a file that PCP's own pmdammv shows as
 * mmv.<name>.transact.count and so on. Comes before all other calls. A name is a letter, then
 * letters, digits and '_', at most 64. -EINVAL: other names; -EBUSY: there was a call. The variable
 * PCP_TRACE_MMV does the same. */
extern int pmtrace_mmv(const char* name);

/* Fills the first `size` bytes of *stats. */
extern int pmtrace_stats(pmtrace_stats_t* stats, size_t size);

#endif /* PMTRACE_DISABLE */

#ifdef __cplusplus
}
#endif

#include "pcp/trace_disabled.h"

/* The Programmer's Guide's name. */
#define pmtracecount pmtracecounter

/* A transaction from here to the end of the block, however the program leaves the block; only
 * longjmp, exit and, without -fexceptions, pthread_exit, pthread_cancel and C++ exceptions leave it
 * open. A declaration: no goto or switch may jump past it into its block. Compilers refuse that,
 * but gcc not for a computed goto. The tag is a literal, looked up when the line is first reached.
 * PMTRACE_FUNCTION() takes the function's name. For gcc and clang; C++ has these two in
 * <pcp/trace.hpp>. */
#if defined(__GNUC__) && !defined(__cplusplus)
#define PMTRACE_SCOPE(tag) PMTRACE_NUMBERED_SCOPE_("" tag, __COUNTER__)
#define PMTRACE_FUNCTION() PMTRACE_NUMBERED_SCOPE_(__extension__ __func__, __COUNTER__)
#define PMTRACE_NUMBERED_SCOPE_(tag, number) PMTRACE_SCOPE_(tag, number)
#ifdef PMTRACE_DISABLE
#define PMTRACE_SCOPE_(tag, number) enum { pmtrace_scope_##number = sizeof(tag) }
#else
/* A jump past the line would end a transaction that never began. The unused pointer, to an array of
 * variable size, makes that an error. */
/* clang-format off */
#define PMTRACE_SCOPE_(tag, number)                                                               \
  static pmtrace_handle pmtrace_known_##number;                                                   \
  const pmtrace_handle pmtrace_tag_##number = pmtrace_known_tag_(&pmtrace_known_##number, tag);   \
  _Pragma("GCC diagnostic push")                                                                  \
  _Pragma("GCC diagnostic ignored \"-Wvla\"")                                                     \
  __extension__ char (*pmtrace_no_jump_##number)[1 + (pmtrace_tag_##number != NULL)]              \
      __attribute__((__unused__));                                                                \
  _Pragma("GCC diagnostic pop")                                                                   \
  pmtrace_tx pmtrace_scope_##number __attribute__((__cleanup__(pmtrace_end)));                    \
  const int pmtrace_begun_##number __attribute__((__unused__)) =                                  \
      pmtrace_begin(pmtrace_tag_##number, &pmtrace_scope_##number)
/* clang-format on */

/* Threads that look the tag up at the same time find the same handle. The acquire pairs with the
 * release: of what the tag points to. */
static __inline__ pmtrace_handle pmtrace_known_tag_(pmtrace_handle* known, const char* tag) {
  pmtrace_handle handle = __atomic_load_n(known, __ATOMIC_ACQUIRE);
  if (__builtin_expect(handle == NULL, 0)) {
    handle = pmtrace_tag(tag);
    __atomic_store_n(known, handle, __ATOMIC_RELEASE);
  }
  return handle;
}
#endif
#elif defined(__cplusplus) && __cplusplus >= 201103L
#define PMTRACE_SCOPE(...) static_assert(false, "PMTRACE_SCOPE in C++ needs <pcp/trace.hpp>")
#define PMTRACE_FUNCTION(...) static_assert(false, "PMTRACE_FUNCTION in C++ needs <pcp/trace.hpp>")
#endif

#endif /* PCP_TRACE_H */
