# SPDX-License-Identifier: LGPL-2.1-or-later
"""Begins from headers of each form, and checks those that go out: headers.py TRACEPARENT"""

import collections
import email.message
import sys

import pcp_trace as trace

CAME_IN = sys.argv[1]
request = trace.Tag("request")


def check(headers, **expected):
    for begin in (request.begin_from, lambda given: trace.begin_from("request", given, kind=1)):
        later = trace.transaction("inside")
        assert hasattr(later, "__exit__")  # decides nothing
        with begin(headers) as running:
            assert running.headers() == trace.headers() == expected, (headers, running.headers())
            with later as inside:
                assert inside.headers() == expected, inside.headers()
            with request.begin_from(None) as other:  # is not a part of what is current
                with trace.transaction("inside"):
                    assert other.headers() == trace.headers() == {}
        assert trace.headers() == {}
    assert running.headers() == expected  # what began inside may go on


message = email.message.Message()
message["Traceparent"] = CAME_IN
state = {"tracestate": "a=b"}
for traceparent in (CAME_IN, CAME_IN.encode()):
    for name in ("traceparent", "TraceParent", "TRACEPARENT", b"traceparent", b"TraceParent"):
        check({name: traceparent}, traceparent=CAME_IN)
        check([(b"Accept", b"*"), (name, traceparent), (b"TraceState", "a=b")], traceparent=CAME_IN, **state)
check(message, traceparent=CAME_IN)
check(collections.UserDict(traceparent=CAME_IN, tracestate=b"a=b"), traceparent=CAME_IN, **state)
check((("tracestate", "a=1"), ("traceparent", CAME_IN), ("Tracestate", b"b=2")), traceparent=CAME_IN,
      tracestate="a=1,b=2")
for nothing in (None, {}, [], {"tracestate": "a=b"}, {"traceparent": "x"}, {"traceparent": CAME_IN + "\0"},
                {"traceparent": CAME_IN.replace("a", "\xe4")}, {"traceparent": CAME_IN[:-1] + "\ud800"},
                [("traceparent", CAME_IN)] * 2, {"traceparent": b"\xff" * 55}, {"traceparent": "x" * 100_000}):
    check(nothing)
check({"traceparent": CAME_IN, "tracestate": "\xff"}, traceparent=CAME_IN)
