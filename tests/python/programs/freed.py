# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frees a long chain of transactions, a decorated function, and a module as each subinterpreter has one."""

import contextvars
import gc
import importlib.util
import threading
import types
import weakref

import pcp_trace as trace
from pcp_trace import _helpers, _native


def begin_many():
    with trace.begin_from("request", {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}):
        for _ in range(50_000):  # each is inside of the one before, and nobody ends them
            trace.transaction("step").__enter__()


threading.stack_size(256 * 1024)
thread = threading.Thread(target=begin_many)
thread.start()
thread.join()

another = importlib.util.module_from_spec(_native.__spec__)
_native.__loader__.exec_module(another)
another.connect(contextvars.ContextVar("current", default=None), _helpers.decorate, _helpers.find_headers,
                types.MethodType)
with another.transaction("request"):
    pass
function = trace.transaction("request")(len)  # a weak reference serves as one to any function
freed = weakref.ref(another), weakref.ref(function)
del another, function
gc.collect()
assert [each() for each in freed] == [None, None]
