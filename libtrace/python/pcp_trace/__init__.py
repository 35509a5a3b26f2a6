# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tells Performance Co-Pilot what a program does.

    import pcp_trace as trace

    with trace.transaction("request", route="/cart") as running:   # an exception aborts it
        trace.observe("queue-length", 17)
        running.label("status", 200)

A transaction has a begin and an end, a point is counted, an observation goes up and down, a counter only grows. Each
call names a tag and perhaps labels; a Tag is looked up once. See getting-started.md.
"""

import contextlib
import contextvars
import types

from . import _helpers, _native
from ._native import (Tag, Transaction, add, begin, begin_from, count, describe, flush, headers, observe, point, stats,
                      transaction)

__all__ = ["Tag", "Transaction", "add", "begin", "begin_from", "count", "describe", "flush", "headers", "observe",
           "point", "stats", "transaction"]

if _native.connect(contextvars.ContextVar("pcp_trace.current", default=None), _helpers.decorate, _helpers.find_headers,
                   types.MethodType):
    with contextlib.suppress(Exception):  # a program may have no name, and anything in sys.argv
        _native.name_service(_helpers.service())
    _helpers.follow_processes()
