# SPDX-License-Identifier: LGPL-2.1-or-later
"""Once its transaction is captured, makes the notes that tests/support/noted.py expects; or fails in one of the ways
that only Python has: notes.py HOW"""

import asyncio
import sys
import time

import pcp_trace as trace

request = trace.Tag("request")
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Bad(Exception):
    def __str__(self):
        raise OSError


def is_captured():
    """A captured transaction has a trace."""
    with request.transaction() as running:
        running.note("early", "text")
        return running.headers() != {}


def note_all():
    with request.transaction() as running:
        running.note("route", "/nowhere")
        running.note("rows", 12.5)
        running.note("bytes", 4096)
        running.note("route", "/käse")
        running.note("k" * 128, "yes")
        running.note("long", "v" * 100_000)
        for key in ("", "€" * 43, "k" * 100_000):
            running.note(key, "text")
            running.note(key, 1)
            running.link(key)
        running.link(TRACE.encode())
        running.want(why="chosen")
        running.want()
        running.fail("declined")
        running.note("late", "text")
        running.fail("late")


@request.transaction()
def function():
    raise LookupError("in it")


@request.transaction()
async def coroutine():
    raise asyncio.CancelledError


def raise_in_block(problem):
    with request.transaction():
        raise problem


while not is_captured():
    time.sleep(0.01)  # poll: until it is captured
try:
    {"all": note_all, "function": function, "coroutine": lambda: asyncio.run(coroutine()),
     "message": lambda: raise_in_block(ValueError("sold out")), "none": lambda: raise_in_block(KeyboardInterrupt()),
     "again": lambda: raise_in_block(Bad()), "half": lambda: raise_in_block(ValueError("a\0b\ud800"))}[sys.argv[1]]()
except (Exception, KeyboardInterrupt, asyncio.CancelledError):
    pass
