# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes calls with wrong types: each is a TypeError that names the argument. Then makes calls with texts that are no
tags or that C cannot hold, and prints the log of these."""

import decimal
import fractions

import log
import pcp_trace as trace


class Number(int):
    """Has this text, or none."""
    def __new__(cls, text):
        self = super().__new__(cls, 3)
        self.text = text
        return self

    def __str__(self):
        return self.text


tag = trace.Tag("right")
running = tag.transaction()
NOT_TEXT = [None, 3.5, b"bytes", ["list"]]
NOT_NUMBER = [None, "3", b"3", [3], 3j]

for wanted, calls, values in (
        ("name", [lambda given, call=call, rest=rest: call(given, *rest) for call, rest in (
            (trace.Tag, ()), (trace.point, ()), (trace.observe, (1,)), (trace.add, (1,)), (trace.count, (1,)),
            (trace.transaction, ()), (trace.begin, ()), (trace.begin_from, ({},)), (trace.describe, ("", "")))],
         [*NOT_TEXT, 3]),
        ("name", [lambda given: trace.Tag(given, label=1), lambda given: trace.point(given, label=1)], NOT_TEXT),
        ("label 'zone'", [lambda given: trace.Tag("x", zone=given), lambda given: trace.point("x", zone=given),
                          lambda given: trace.transaction("x", zone=given)], NOT_TEXT),
        ("label 'key'", [lambda given: running.label("key", given)], NOT_TEXT),
        ("key", [lambda given: running.label(given, 1), lambda given: running.note(given, 1)], [*NOT_TEXT, 3]),
        ("value", [tag.observe, tag.add, tag.count, lambda given: trace.add("x", given)], NOT_NUMBER),
        ("value", [lambda given: running.note("key", given)], [None, b"3", [3], 3j]),
        ("unit", [lambda given: tag.describe(given, "")], [*NOT_TEXT, 3]),
        ("text", [lambda given: tag.describe("", given)], [*NOT_TEXT, 3]),
        ("reason", [running.fail], [*NOT_TEXT, 3, ValueError]),
        ("traceparent", [running.link], [None, 3]),
        ("why", [running.want], [3, b"bytes"]),
        ("headers", [tag.begin_from, lambda given: trace.begin_from("x", given)], [3, 3.5]),
        ("header traceparent", [lambda given: tag.begin_from({"traceparent": given})], [None, 3, ["x"]]),
        ("since", [lambda given: tag.begin(since=given)], ["3", b"3", [3]]),
        ("timeout", [trace.flush], NOT_NUMBER),
        ("function", [running], [None, 3, "x"])):
    for call in calls:
        for value in values:
            try:
                call(value)
            except TypeError as problem:
                assert str(problem).startswith(f"{wanted} must be "), (wanted, value, problem)
                assert str(problem).endswith(f", not {type(value).__name__}"), (wanted, value, problem)
            else:
                raise AssertionError((wanted, value))
for call in (trace.point, trace.observe, trace.Tag, trace.transaction, trace.describe, trace.begin_from, running.label,
             running.note, tag.describe, lambda: tag.point(1), lambda: trace.observe("x"), lambda: running(1, 2),
             lambda: running(print, key=1), tag.transaction(), lambda: tag.transaction()(1, 2, 3), lambda: trace.Tag("x", "y")):
    try:
        call()
    except TypeError:
        continue
    raise AssertionError(call)

trace.point("right")  # reads from the environment whether tracing is off
log.note(log.POINTS, "right")
with tag.transaction() as used:
    for again in (used, running.__class__.__call__(tag.transaction(), print) and used):
        try:
            again.__enter__()
        except RuntimeError:
            continue
        raise AssertionError(again)
log.note(log.COUNT, "right")

# Bytes that C cannot hold become "?". A text that is no tag is not counted.
for name, counted in (("a\0b", "a?b"), ("\0", "?"), ("\ud800", "?"), ("x\udfffy", "x?y"), ("größe 😀", "größe 😀"),
                      ("", None), ("n" * 254, "n" * 254), ("€" * 85, None), ("n" * 300, None)):
    trace.point(name)
    trace.Tag(name).point()
    with trace.transaction(name) as running:
        running.label("key", 1)
    if counted:
        log.note(log.POINTS, counted, 2)
        log.note(log.COUNT, f"{counted}{{key=1}}" if len(counted) < 200 else counted)
# A label that is too long, or one more than a tag may have, or of no right name, or of a later time.
trace.point("long", zone="z" * 300)
log.note(log.POINTS, "long")
for wrong in ({"Upper": 1}, {"hostname": 1}, {f"l{i}": i for i in range(17)}, {"": 1}, {"\ud800": 1}, {"a\0": 1}):
    trace.point("wrong", **wrong)
    with trace.transaction("late") as running:
        for key, value in wrong.items():
            running.label(key, value)
        running.label("x", 1)
    log.note(log.COUNT, "late")
trace.point("l", **{f"l{i}": i for i in range(16)})
log.note(log.POINTS, "l{" + ";".join(f"l{i}={i}" for i in sorted(range(16), key=str)) + "}")
trace.point("labels", a="\0", b=10 ** 20, c=True)
trace.point("labels", a="?", b=10 ** 20, c="True")
log.note(log.POINTS, "labels{a=%3F;b=100000000000000000000;c=True}", 2)
trace.point("labels", a=Number("a\0\ud800"), b=Number(None))  # no code of a subclass runs
log.note(log.POINTS, "labels{a=3;b=3}")
trace.point("long", zone=10 ** 5000)
log.note(log.POINTS, "long")
for many in range(10_000):  # more than the cache holds
    trace.Tag(f"tag {many % 5000}")
for wrong in (-1, float("nan"), float("inf"), 10 ** 400, -10 ** 400, decimal.Decimal("sNaN")):
    trace.add("added", wrong)
trace.add("added", 2 ** 53)
log.note(log.ADDED, "added", 2 ** 53)
trace.observe("huge", 10 ** 300)
trace.observe("beyond", 10 ** 400)
trace.observe("fraction", -fractions.Fraction(10 ** 400))
for huge in ("huge", "beyond", "fraction"):
    log.note("observe.count", huge)
tag.begin(since=10 ** 400).end()
log.note(log.COUNT, "right")
assert trace.flush(10 ** 400) or not trace.stats()["connected"]
log.write()
