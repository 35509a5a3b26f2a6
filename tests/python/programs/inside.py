# SPDX-License-Identifier: LGPL-2.1-or-later
"""One captured transaction with points, values and forked children inside. Writes a line for each span to a file, as
tasks.py: inside.py FILE"""

import multiprocessing
import os
import sys
import threading

import pcp_trace as trace

FILE = sys.argv[1]


def ids():
    return trace.headers()["traceparent"].split("-")[1:3]


def note(tag, own, parent):
    with open(FILE, "a", encoding="ascii") as file:
        file.write(f"{tag} {ids()[0]} {own} {parent}\n")


def point(tag):
    """A point shows the id of the transaction around it."""
    trace.point(tag)
    note(tag, ids()[1], "")


@trace.transaction("child")
def child(around, name):
    note("child", ids()[1], around)
    point(name)


def fork(around):
    pid = os.fork()
    if pid == 0:
        assert request.headers() == trace.headers() and ids()[1] == around
        with trace.transaction("sibling"):
            note("sibling", ids()[1], around)
        child(around, "in fork")
        os._exit(0)
    os.waitpid(pid, 0)


def without(around):
    """Another thread is not inside."""
    assert trace.headers() == {} and around


with trace.transaction("request") as request:
    here = ids()[1]
    note("request", here, "")
    point("before")
    with trace.transaction("step"):
        note("step", ids()[1], here)
        point("inside")
    for target, arguments in ((fork, (here,)), (child, (here, "in a child"))):
        process = multiprocessing.get_context("fork").Process(target=target, args=arguments)
        process.start()
        process.join()
        assert process.exitcode == 0
    thread = threading.Thread(target=without, args=(here,))
    thread.start()
    thread.join()
    fork(here)
    point("after")
