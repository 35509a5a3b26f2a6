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

/* Error codes. pmtraceerrstr turns them, and negative errno values, into text. */
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
#define PMTRACE_STATE_PDUBUF 8   /* diagnostics: queues and buffers */
#define PMTRACE_STATE_NOAGENT 16 /* no communication at all */
#define PMTRACE_STATE_ASYNC 32   /* after the first call, never report the connection */
#define PMTRACE_STATE_SYNC 64    /* every call returns after the agent has acknowledged it */

/* A tag, looked up once. Never freed; valid in a forked child. */
typedef const struct pmtrace_tag_record* pmtrace_handle;

/* One of the labels of a tag: what sets it apart from others of its name. */
typedef struct {
  const char* name;
  const char* value;
} pmtrace_label;

/* An open transaction. The memory is the caller's, the contents are the library's. None is open
 * while the first word is zero. */
typedef struct {
  uint64_t opaque[8];
} pmtrace_tx;

/* Room for what pmtrace_context and pmtrace_context_state write. */
#define PMTRACE_CONTEXT_SIZE 56
#define PMTRACE_CONTEXT_STATE_SIZE 513

/* The library's own counters, since the start of this process (a forked child starts afresh). */
typedef struct {
  uint64_t recorded;     /* calls */
  uint64_t acknowledged; /* of those, calls that the agent has acknowledged */
  uint64_t pending;      /* calls that wait to be sent or to be acknowledged */
  uint64_t uncertain;    /* calls sent, but the agent cannot tell whether they were counted */
  uint64_t merged;  /* calls that found their thread's queue full and were added up on the spot */
  uint64_t thinned; /* of merged: values that percentiles do not know of */
  uint64_t undeliverable; /* calls whose tag a stock agent cannot take (125 bytes or more) */
  uint64_t aborted;       /* aborted transactions, counted when they are sent */
  uint64_t batches;       /* batches sent, or chunks to a stock agent */
  uint64_t reconnects;    /* connections made after the first one */
  int32_t connected;      /* 1: an agent is connected now */
  int32_t version;        /* of the protocol it speaks: 1 stock, 2 ours; 0: none yet */
  uint64_t labels_cut;    /* tags asked for with labels that got their bare name: too long */
  uint64_t labels_over;   /* the same, because their name had too many sets of labels */
  uint64_t unlisted;      /* begins while too many were open: in flight by number, not by age */
} pmtrace_stats_t;

#ifndef PMTRACE_DISABLE

/* The calls by name. 0, or a negative error code. */
extern int pmtracebegin(const char* tag);
extern int pmtraceend(const char* tag);
extern int pmtraceabort(const char* tag);
extern int pmtracepoint(const char* tag);
extern int pmtraceobs(const char* tag, double value);
extern int pmtracecounter(const char* tag, double value);
extern int pmtraceadd(const char* tag, double increment); /* as pmtrace_add; not in PCP's own */

/* Replaces the state flags; gives the old ones. ASYNC after a connection was made: -EINVAL. */
extern int pmtracestate(int flags);

/* Never NULL, not to be freed. */
extern char* pmtraceerrstr(int code);

/* NULL if this is not a tag (1 to 254 bytes), or if there is no memory. */
extern pmtrace_handle pmtrace_tag(const char* name);

/* The same for a name with labels, in any order: name{route=/cart;zone=eu}. Where that is too long,
 * or the name has too many sets of labels, it is the bare name's handle. NULL also if the name of a
 * label is not [a-z][a-z0-9_]*, is one that PCP gives, or comes twice; or if there are more
 * than 16. */
extern pmtrace_handle pmtrace_tag_with(const char* name, const pmtrace_label* labels, size_t count);

/* The tag as text, by which the calls by name find it: its name, with its labels as above. NULL for
 * NULL. */
extern const char* pmtrace_tag_text(pmtrace_handle tag);

/* Says what a tag's values are measured in ("ms", "bytes"), and what it stands for. Either may be
 * NULL. 0, or a negative error code. */
extern int pmtrace_describe(pmtrace_handle tag, const char* unit, const char* text);

/* The calls by handle. Outside the state SYNC they never wait and never report the connection. 0,
 * or a negative error code. */
extern int pmtrace_point(pmtrace_handle tag);
extern int pmtrace_observe(pmtrace_handle tag, double value);
extern int pmtrace_count(pmtrace_handle tag, double value);

/* Adds to what all threads and programs have added to this tag. `increment` is finite and not
 * negative, else -EINVAL. */
extern int pmtrace_add(pmtrace_handle tag, double increment);

/* Opens a transaction in *tx, whatever was there before. End and abort set it to zero; they may
 * come on another thread. */
extern int pmtrace_begin(pmtrace_handle tag, pmtrace_tx* tx);
extern int pmtrace_end(pmtrace_tx* tx);
extern int pmtrace_abort(pmtrace_tx* tx);

/* Traces: what one request causes in all programs that it passes through, as W3C's Trace Context
 * has it. What begins on a thread while a transaction of a trace is open there, and did begin there
 * or is attached, belongs to that trace, too. */

/* Begins a transaction that a request has asked for, with the headers that came with it: it belongs
 * to their trace. NULL, or not valid: to none that others know. */
extern int pmtrace_begin_from(pmtrace_handle tag, pmtrace_tx* tx, const char* traceparent,
                              const char* tracestate);

/* Begins one that is a part of another, of whatever thread. A copy of that will do, also after its
 * end. NULL: a part of nothing. */
extern int pmtrace_begin_under(pmtrace_handle tag, pmtrace_tx* tx, const pmtrace_tx* parent);

/* What begins on this thread from now on is inside of *tx, or, after detach, not: for whatever
 * works on several requests by turns. */
extern int pmtrace_attach(const pmtrace_tx* tx);
extern int pmtrace_detach(const pmtrace_tx* tx);

/* Writes the headers for a request that goes out from within *tx, or, with NULL, from within what
 * this thread does: 55 characters, and 512 at most, with a NUL. Give the length, 0 if there is
 * none; -EINVAL if there is less room than the sizes above. */
extern int pmtrace_context(const pmtrace_tx* tx, char* traceparent, size_t size);
extern int pmtrace_context_state(const pmtrace_tx* tx, char* tracestate, size_t size);

/* Notes on a transaction that somebody has asked to see by itself (a capture): attributes, another
 * trace that it has to do with, and why it is aborted. Of any other they note nothing, for the
 * price of a look. -EINVAL: no key of 1 to 128 bytes, no valid header. */
extern int pmtrace_is_captured(const pmtrace_tx* tx);
extern int pmtrace_note(pmtrace_tx* tx, const char* key, const char* value);
extern int pmtrace_note_number(pmtrace_tx* tx, const char* key, double value);
extern int pmtrace_link(pmtrace_tx* tx, const char* traceparent);
extern int pmtrace_fail(pmtrace_tx* tx, const char* reason); /* aborts */

/* Waits until the agent has acknowledged all that was recorded before, at most `timeout` seconds.
 * 1 if it has, else 0. */
extern int pmtrace_flush(double timeout);

/* Fills the first `size` bytes of *stats. */
extern int pmtrace_stats(pmtrace_stats_t* stats, size_t size);

#endif /* PMTRACE_DISABLE */

#ifdef __cplusplus
}
#endif

#include "pcp/trace_disabled.h"

/* The name that the Programmer's Guide uses. */
#define pmtracecount pmtracecounter

#endif /* PCP_TRACE_H */
