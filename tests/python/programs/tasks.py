# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tasks that take turns, each with transactions in three levels of awaits, also in threads and in tasks of its own.
Writes a line for each span to a file: tag, trace, own id, id of the parent or of the request: tasks.py COUNT FILE"""

import asyncio
import random
import sys

import pcp_trace as trace

COUNT, FILE = int(sys.argv[1]), sys.argv[2]
dice = random.Random(COUNT)
request = trace.Tag("request")
lines = []


def ids(headers):
    return headers["traceparent"].split("-")[1:3]


def note(tag, running, around):
    """Notes a transaction, which must be the current one. Gives its ids."""
    assert trace.headers() == running.headers(), tag
    here = ids(running.headers())
    assert around is None or here[0] == around[0], tag
    lines.append(" ".join([tag, *here, around[1] if around else ""]))
    return here


async def turns():
    for _ in range(dice.randrange(4)):
        await asyncio.sleep(0)  # load: the others have their turn


def in_thread(around):
    with trace.transaction("thread") as running:
        note("thread", running, around)


@trace.transaction("items")
async def items(around):
    around = ids(trace.headers()) if note_items(around) else None
    for _ in range(2):
        await turns()
        with trace.transaction("item") as running:
            here = note("item", running, around)
            await turns()
            yield here
        assert ids(trace.headers()) == around


def note_items(around):
    here = ids(trace.headers())
    lines.append(" ".join(["items", *here, around[1]]))
    return here


async def inner(number, around):
    with trace.transaction("inner", kind=number % 3) as running:
        here = note(f"inner{{kind={number % 3}}}", running, around)
        await turns()
        if number % 50 == 0:
            await asyncio.to_thread(in_thread, here)
        assert ids(trace.headers()) == here
    assert ids(trace.headers()) == around


async def middle(number, around):
    with trace.transaction("middle") as running:
        here = note("middle", running, around)
        await turns()
        if number % 7 == 0:
            async for item in items(here):  # what it has inside is not around this loop
                assert item[0] == here[0] and ids(trace.headers()) == here
        children = [asyncio.create_task(inner(number, here)) for _ in range(number % 5 == 0)]
        await inner(number, here)
        await asyncio.gather(*children)
        assert ids(trace.headers()) == here


async def late(number, around, begun):
    """Goes on when the request has ended."""
    await begun.wait()
    await inner(number, around)


async def serve(number):
    assert trace.headers() == {}
    incoming = [f"{dice.randrange(1, 1 << 128):032x}", f"{dice.randrange(1, 1 << 64):016x}"] if number % 2 else None
    ended = asyncio.Event()
    headers = [(b"Host", b"x"), (b"TraceParent", f"00-{'-'.join(incoming)}-01".encode())] if incoming else {}
    with request.begin_from(headers) as running:
        here = note("request", running, incoming)
        afterwards = asyncio.create_task(late(number, here, ended))
        await turns()
        await middle(number, here)
        assert ids(trace.headers()) == here
    ended.set()
    assert trace.headers() == {}
    await afterwards


async def main():
    await asyncio.gather(*(serve(number) for number in range(COUNT)))


asyncio.run(main())
assert trace.headers() == {}
with open(FILE, "w", encoding="ascii") as file:
    file.write("".join(line + "\n" for line in lines))
