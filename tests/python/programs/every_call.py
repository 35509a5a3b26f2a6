# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes each call of the package some hundred times in a random order, and prints how often: every_call.py SEED"""

import asyncio
import contextlib
import importlib
import inspect
import os
import pickle
import random
import sys
import types

import log
import pcp_trace as trace

dice = random.Random(int(sys.argv[1]))
request = trace.Tag("request", route="/cart", zone=3)
REQUEST = "request{route=/cart;zone=3}"


class Failure(Exception):
    pass


def ended(tag, work):
    """Runs work that fails sometimes, and notes how its transaction must end."""
    fails = dice.random() < 0.3
    try:
        work(fails)
    except Failure:
        assert fails
    log.note(log.ABORTS if fails else log.COUNT, tag)


def fail_if(fails):
    if fails:
        raise Failure("sold out")


def block(fails):
    with request.transaction() as running:
        assert running.headers() == {}
        fail_if(fails)


def block_by_name(fails):
    with trace.transaction("request", zone=3, route="/cart"):
        fail_if(fails)


def block_without_exception(fails):
    with trace.transaction("by hand") as running:
        if fails:
            dice.choice([running.abort, lambda: running.fail("no"), lambda: running.fail(Failure())])()


def on_a_stack(fails):
    with contextlib.ExitStack() as stack:
        stack.enter_context(request.transaction()).note("rows", 1)
        fail_if(fails)


def begin_and_end(fails):
    running = trace.begin("by hand") if dice.random() < 0.5 else trace.Tag("by hand").begin(since=1.5)
    (running.abort if fails else running.end)()
    running.end()  # too late


def labelled(fails):
    with trace.transaction("late", by="a") as running:
        running.label("status", 404)
        running.label("status", 504 if fails else "ok")
        fail_if(fails)


def forgotten(fails):
    running = trace.transaction("forgotten").__enter__()
    if not fails:
        running.end()


def closed(fails):
    """A generator that is closed has not failed."""
    steps = generator(3)
    next(steps)
    steps.close()
    with contextlib.suppress(GeneratorExit):  # as it is without us
        steps = generator(3)
        next(steps)
        steps.throw(GeneratorExit())
        raise AssertionError
    fail_if(fails)


@trace.transaction("function")
def function(fails, *, by_name="value"):
    assert by_name == "value"
    fail_if(fails)
    return 17


class Class:
    @trace.transaction("method")
    def method(self, fails):
        fail_if(fails)
        return self

    @staticmethod
    @trace.transaction("static")
    def static(fails):
        fail_if(fails)

    @classmethod
    @trace.transaction("class")
    def of_class(cls, fails):
        assert cls is Class
        fail_if(fails)


@trace.transaction("coroutine")
async def coroutine(fails):
    await asyncio.sleep(0)  # load: another turn of the loop
    fail_if(fails)
    return 18


@trace.transaction("generator")
def generator(count):
    """Gives back what it is sent, and an exception as its next item."""
    got = None
    for _ in range(count):
        try:
            got = yield got
        except ValueError as problem:
            got = problem
    fail_if(got == "fail")
    return got


def generated(fails):
    steps = generator(3)
    assert next(steps) is None and steps.send("one") == "one"
    problem = ValueError()
    assert steps.throw(problem) is problem
    try:
        steps.send("fail" if fails else "end")
    except StopIteration as end:
        assert end.value == "end"


@trace.transaction("asynchronous generator")
async def asynchronous(fails):
    got = yield 1
    assert got == "sent"
    try:
        yield 2
    except ValueError:
        await asyncio.sleep(0)  # load: the same
        fail_if(fails)
        yield 3


@trace.transaction("to await")
@types.coroutine
def to_await():
    yield  # to the event loop
    return 19


async def awaiting():
    return await to_await()


async def iterate(fails):
    steps = asynchronous(fails)
    assert await steps.asend(None) == 1 and await steps.asend("sent") == 2
    assert await steps.athrow(ValueError()) == 3
    assert [item async for item in steps] == []


assert inspect.iscoroutinefunction(coroutine) and inspect.isasyncgenfunction(asynchronous)
assert inspect.isgeneratorfunction(generator) and list(inspect.signature(function).parameters) == ["fails", "by_name"]
assert pickle.loads(pickle.dumps(function)) is function and function.__name__ == "function"
assert inspect.getfullargspec(function)[0::4] == (["fails"], ["by_name"])
assert generator.__doc__.startswith("Gives back") and Class.method is not Class().method
assert function(False) == 17 and asyncio.run(coroutine(False)) == 18
log.note(log.COUNT, "function")
log.note(log.COUNT, "coroutine")
assert asyncio.run(awaiting()) == 19
log.note(log.COUNT, "to await")
exit_at_once = os._exit
with request.begin_from({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}) as running:
    assert importlib.reload(trace).headers() == running.headers() and os._exit is exit_at_once
log.note(log.COUNT, REQUEST)
TRANSACTIONS = [
    (REQUEST, block), (REQUEST, block_by_name), (REQUEST, on_a_stack), ("by hand", block_without_exception), ("by hand", begin_and_end),
    ("forgotten", forgotten), ("function", function), ("method", Class().method), ("static", Class.static),
    ("class", Class.of_class), ("coroutine", lambda fails: asyncio.run(coroutine(fails))), ("generator", generated),
    ("asynchronous generator", lambda fails: asyncio.run(iterate(fails)))]

for _ in range(3000):
    choice = dice.randrange(len(TRANSACTIONS) + 6)
    if choice < len(TRANSACTIONS):
        ended(*TRANSACTIONS[choice])
    elif choice == len(TRANSACTIONS):
        fails = dice.random() < 0.5
        try:
            labelled(fails)
        except Failure:
            pass
        log.note(log.ABORTS if fails else log.COUNT, f"late{{by=a;status={504 if fails else 'ok'}}}")
    elif choice == len(TRANSACTIONS) + 1:
        try:
            closed(dice.random() < 0.3)
        except Failure:
            pass
        log.note(log.COUNT, "generator", 2)
    else:
        number = dice.randrange(1000)
        call, tag = dice.choice([("point", "a b"), ("point", "c{d=1}"), ("add", "bytes"), ("observe", "length")])
        if call == "point":
            dice.choice([trace.Tag(tag).point, lambda: trace.point("c", d=1)])() if "{" in tag else trace.point(tag)
            log.note(log.POINTS, tag)
        else:
            dice.choice([getattr(trace.Tag(tag), call), lambda value: getattr(trace, call)(tag, value)])(number)
            log.note(log.ADDED if call == "add" else "observe.sum", tag, number)
            if call == "observe":
                log.note("observe.count", tag)
trace.count("size so far", 81920)
log.note("counter.value", "size so far", 81920)
trace.describe("bytes", "byte", "Sent")
log.write()
