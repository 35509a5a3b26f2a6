# SPDX-License-Identifier: LGPL-2.1-or-later
"""Logs inside and outside of a transaction."""

import logging
import sys

import pcp_trace as trace
import pcp_trace.logs

handler = logging.StreamHandler(sys.stdout)
handler.addFilter(trace.logs.TraceIds())
handler.setFormatter(logging.Formatter("[%(trace_id)s-%(span_id)s] %(message)s"))
logging.basicConfig(handlers=[handler])
with trace.transaction("request"):
    logging.getLogger("below").warning("inside")
logging.warning("outside")
