/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An event like an observation: a value and the name of what was observed. */
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

#endif

#include <lttng/tracepoint-event.h>
