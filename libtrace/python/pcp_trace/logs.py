# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ids of the current trace in the records of logging:

    handler.addFilter(pcp_trace.logs.TraceIds())
    handler.setFormatter(logging.Formatter("%(trace_id)s %(message)s"))
"""

import logging

from . import headers


class TraceIds(logging.Filter):
    """Sets trace_id and span_id, in hexadecimal digits, in each record; empty texts without a trace. Add it to a
    handler: filters of a logger do not see the records of loggers below."""

    def filter(self, record: logging.LogRecord) -> bool:
        _, record.trace_id, record.span_id, _ = headers().get("traceparent", "---").split("-")
        return True
