# SPDX-License-Identifier: LGPL-2.1-or-later
"""WSGI applications of each kind under the middleware, between two validators. With an argument, nothing is traced."""

import contextlib
import gc
import io
import itertools
import sys
import weakref
import wsgiref.util
from wsgiref.validate import validator

import log
import pcp_trace as trace
from pcp_trace import wsgi

TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=b"}
INSIDE = {} if sys.argv[1:] else TRACE
freed, closed = [], []
gc.disable()


def serve(application, method="GET", parts=None, checked=validator, wrapper=wsgiref.util.FileWrapper, **options):
    """A server that sends at most so many parts of the body. Gives the status and what it has sent."""
    environ = {"REQUEST_METHOD": method, "QUERY_STRING": "", "wsgi.file_wrapper": wrapper,
               **{f"HTTP_{name.upper()}": value for name, value in TRACE.items()}}
    wsgiref.util.setup_testing_defaults(environ)
    freed.append(weakref.ref(environ["wsgi.input"]))
    seen, sent = [], []

    def start_response(status, headers, exc_info=None):
        try:
            if exc_info and sent:
                raise exc_info[1]
        finally:
            exc_info = None
        seen.append(status)
        return sent.append

    body = checked(wsgi.Middleware(checked(application), application.__name__, **options))(environ, start_response)
    assert isinstance(body, wrapper) == (application is a_file)
    try:
        for part in body if parts is None else (next(body) for _ in range(parts)):
            assert trace.headers() == {}  # between two parts the server may serve others
            sent.append(part)
    finally:
        if hasattr(body, "close"):
            body.close()
        assert trace.headers() == {}
    return seen[-1], b"".join(sent)


def listed(environ, start_response, status="200 OK", **more):
    assert trace.headers() == INSIDE
    write = start_response(status, [("Content-Type", "text/plain")], *more.values())
    return [b"a", b"b"] if status == "200 OK" else write


def generated(environ, start_response):
    for part in listed(environ, start_response):
        assert trace.headers() == INSIDE
        yield part
    environ["pcp_trace.request"].running.label("last", "b")


def written(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])(b"a")
    return [b"b"]


def again(environ, start_response):
    listed(environ, start_response)
    start_response("500 Sorry", [("Content-Type", "text/plain")], exc_info=(ValueError, ValueError(), None))
    return [b"ab"]


def too_late(environ, start_response):
    written(environ, start_response)
    start_response("500 Sorry", [], (ValueError, ValueError(), None))


def raising(environ, start_response):
    raise ValueError


def raising_first(environ, start_response):
    listed(environ, start_response)
    raise ValueError


def raising_later(environ, start_response):
    yield listed(environ, start_response)[0]
    raise ValueError


class Body(list):
    def close(self):
        assert trace.headers() == INSIDE
        raise ValueError


class Unreadable(list):
    def __iter__(self):
        raise ValueError

    def close(self):
        closed.append(self)


def raising_at_iter(environ, start_response):
    return Unreadable(listed(environ, start_response))


def raising_last(environ, start_response):
    return Body(listed(environ, start_response))


def a_file(environ, start_response):
    listed(environ, start_response)
    file = io.BytesIO(b"ab")
    freed.append(weakref.ref(file))
    return environ["wsgi.file_wrapper"](file)


def not_modified(environ, start_response):
    start_response("304 Not Modified", [])
    return [b""]


def said(environ, start_response):
    for name, value in (("route", "/item/:id"), ("failure", "sold out")):
        try:
            setattr(environ["pcp_trace.request"], name, 17)
        except TypeError:
            setattr(environ["pcp_trace.request"], name, value)
    return listed(environ, start_response)


FAILING = (too_late, raising, raising_first, raising_later, raising_last, raising_at_iter)
for application, labels, metric, options in (
        (listed, "method=GET;status=200", log.COUNT, {}),
        (listed, "method=GET;route=get;status=200", log.COUNT, {"route": lambda got: got["REQUEST_METHOD"].lower()}),
        (listed, "method=HEAD;status=200", log.COUNT, {"method": "HEAD", "parts": 0}),
        (listed, "method=other;status=200", log.COUNT, {"method": "BREW", "checked": lambda given: given}),
        (generated, "last=b;method=GET;status=200", log.COUNT, {}),
        (generated, "method=GET;status=200", log.ABORTS, {"parts": 1}),  # the client has gone
        (written, "method=GET;status=200", log.COUNT, {}),
        (again, "method=GET;status=500", log.ABORTS, {"checked": lambda given: given}),
        (raising_at_iter, "method=GET;status=500", log.ABORTS, {"checked": lambda given: given}),
        (said, "method=GET;route=/item/:id;status=200", log.ABORTS, {"route": lambda _: "/other"}),
        (not_modified, "method=GET;status=304", log.COUNT, {"parts": 0}),
        (a_file, "method=GET;status=200", log.COUNT, {"checked": lambda given: given}),
        (a_file, "method=GET;status=200", log.COUNT, {"checked": lambda given: given, "wrapper": itertools.chain}),
        (a_file, "method=GET;status=200", log.COUNT, {"checked": lambda given: given, "wrapper": io.BufferedReader}),
        (too_late, "method=GET;status=200", log.ABORTS, {"checked": lambda given: given}),
        (raising, "method=GET;status=500", log.ABORTS, {}),
        (raising_first, "method=GET;status=500", log.ABORTS, {}),
        (raising_later, "method=GET;status=200", log.ABORTS, {}),
        (raising_last, "method=GET;status=200", log.ABORTS, {})):
    log.note(metric, f"{application.__name__}{{{labels}}}")
    try:
        assert serve(application, **options)[1] == b"ab"[:options.get("parts")]
        assert application not in FAILING
    except ValueError:  # reaches the server
        assert application in FAILING
    assert not any(each() for each in freed), application
    freed.clear()
assert len(closed) == 1
for tag in (5, b"x", None):
    try:
        wsgi.Middleware(listed, tag)
    except TypeError as problem:
        assert str(problem) == f"tag must be str or Tag, not {type(tag).__name__}"
    else:
        raise AssertionError(tag)
with contextlib.redirect_stderr(io.StringIO()) as printed:
    for route in (lambda got: got["planted"], lambda _: {}, lambda got: got["planted"]):
        log.note(log.COUNT, "listed{method=GET;status=200}")
        assert serve(listed, route=route)[1] == b"ab"
assert printed.getvalue().count("\n") == 2 and "KeyError" in printed.getvalue()
with contextlib.suppress(SystemExit):  # a deadline in the function
    log.note(log.COUNT, "listed")
    serve(listed, route=sys.exit)
assert trace.headers() == {}
forgotten = wsgi.Middleware(written, trace.Tag("forgotten", kind=1))({}, lambda *_: lambda _: None)
assert len(forgotten) == 1
del forgotten  # a server that does not close
log.note(log.ABORTS, "forgotten{kind=1;method=other;status=200}")
log.write()
