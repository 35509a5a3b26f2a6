/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An event like an observation: a value and its name. And a span's begin and end events, with the
 * fields of our spans. */
#pragma GCC system_header  // its macros do not pass our warnings
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER pcp_trace_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_event.h"

#if !defined(LTTNG_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_EVENT_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(pcp_trace_bench, observation,
                           LTTNG_UST_TP_ARGS(const char*, name, double, value),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)
                                                   lttng_ust_field_float(double, value, value)))

LTTNG_UST_TRACEPOINT_EVENT(
    pcp_trace_bench, span_begin,
    LTTNG_UST_TP_ARGS(const char*, name, uint64_t, trace_high, uint64_t, trace_low, uint64_t, span,
                      uint64_t, parent, uint32_t, flags, uint32_t, tid, uint8_t, kind),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)
                            lttng_ust_field_integer_hex(uint64_t, trace_high, trace_high)
                                lttng_ust_field_integer_hex(uint64_t, trace_low, trace_low)
                                    lttng_ust_field_integer_hex(uint64_t, span, span)
                                        lttng_ust_field_integer_hex(uint64_t, parent, parent)
                                            lttng_ust_field_integer(uint32_t, flags, flags)
                                                lttng_ust_field_integer(uint32_t, tid, tid)
                                                    lttng_ust_field_integer(uint8_t, kind, kind)))

LTTNG_UST_TRACEPOINT_EVENT(pcp_trace_bench, span_end,
                           LTTNG_UST_TP_ARGS(uint64_t, span, uint8_t, aborted),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uint64_t, span, span)
                                                   lttng_ust_field_integer(uint8_t, aborted,
                                                                           aborted)))

#endif

#include <lttng/tracepoint-event.h>
