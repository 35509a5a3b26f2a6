# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the traces of a program that was started in one."""

import threading

import pcp_trace as trace

print("main", trace.headers().get("traceparent"))
with trace.transaction("block"):
    print("block", trace.headers().get("traceparent"))
thread = threading.Thread(target=lambda: print("thread", trace.headers().get("traceparent")))
thread.start()
thread.join()
