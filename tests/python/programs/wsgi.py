# SPDX-License-Identifier: LGPL-2.1-or-later
"""WSGI applications of each kind under the middleware, between two validators. Each has a tag of its own. With an
argument, nothing is traced."""

import io
import sys
import wsgiref.util
from wsgiref.validate import validator

import log
import pcp_trace as trace
from pcp_trace import wsgi

CAME_IN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
INSIDE = {} if sys.argv[1:] else {"traceparent": CAME_IN, "tracestate": "a=b"}
PLAIN = [("Content-Type", "text/plain")]


def is_inside():
    return trace.headers() == INSIDE


def serve(application, method="GET", parts=None, validated=True, **options):
    """A server that sends at most so many parts of the body. Gives the status and the body."""
    environ = {"REQUEST_METHOD": method, "HTTP_TRACEPARENT": CAME_IN, "HTTP_TRACESTATE": "a=b", "QUERY_STRING": "",
               "PATH_INFO": "/item/4711", "SCRIPT_NAME": "", "wsgi.file_wrapper": wsgiref.util.FileWrapper}
    wsgiref.util.setup_testing_defaults(environ)
    seen, sent = [], []

    def start_response(status, headers, exc_info=None):
        if exc_info and sent:
            raise exc_info[1]
        assert exc_info or not seen
        seen.append(status)
        return sent.append

    checked = validator if validated else lambda application: application
    body = checked(wsgi.Middleware(checked(application), application.__name__, **options))(environ, start_response)
    assert isinstance(body, wsgiref.util.FileWrapper) == (application is a_file)
    try:
        for part in body if parts is None else (next(body) for _ in range(parts)):
            assert trace.headers() == {}  # between two parts the server may serve others
            sent.append(part)
    finally:
        body.close()
        assert trace.headers() == {}
    return seen[-1], b"".join(sent)


def fails(problem, application, **options):
    try:
        serve(application, **options)
    except problem:
        return
    raise AssertionError(f"{application.__name__} has not failed")


def done(tag, labels="method=GET;status=200", metric=log.COUNT):
    log.note(metric, f"{tag}{{{labels}}}")


def listed(environ, start_response):
    assert is_inside()
    start_response("200 OK", PLAIN)
    return [b"a", b"b"]


def generated(environ, start_response):
    start_response("200 OK", PLAIN)
    for part in (b"a", b"b"):
        assert is_inside()
        with trace.transaction("part"):
            yield part
    environ["pcp_trace.request"].running.label("last", "b")


def written(environ, start_response):
    write = start_response("200 OK", PLAIN)
    write(b"a")
    return [b"b"]


def again(environ, start_response):
    """Has another status in the end."""
    start_response("200 OK", PLAIN)
    try:
        raise ValueError
    except ValueError as problem:
        start_response("500 Sorry", PLAIN, (ValueError, problem, None))
    return [b"c"]


def too_late(environ, start_response):
    start_response("200 OK", PLAIN)(b"a")
    start_response("500 Sorry", PLAIN, (ValueError, ValueError("late"), None))
    return []


def raising(environ, start_response):
    raise LookupError


def raising_later(environ, start_response):
    start_response("200 OK", PLAIN)
    yield b"a"
    raise LookupError


def raising_last(environ, start_response):
    class Body:
        def __iter__(self):
            return iter([b"a"])

        def close(self):
            assert is_inside()
            raise LookupError
    start_response("200 OK", PLAIN)
    return Body()


def a_file(environ, start_response):
    start_response("200 OK", PLAIN)
    return environ["wsgi.file_wrapper"](io.BytesIO(b"ab"))


def not_modified(environ, start_response):
    start_response("304 Not Modified", [])
    return [b""]


def said(environ, start_response):
    environ["pcp_trace.request"].route = "/item/:id"
    environ["pcp_trace.request"].failure = "sold out"
    start_response("410 Gone", PLAIN)
    return []


def ended(environ, start_response):
    environ["pcp_trace.request"].running.fail("by hand")
    start_response("200 OK", PLAIN)
    return []


for application in (listed, generated, written):
    assert serve(application) == ("200 OK", b"ab")
    done(application.__name__, "last=b;method=GET;status=200" if application is generated else "method=GET;status=200")
log.note(log.COUNT, "part", 2)
assert serve(listed, "HEAD", parts=0)[1] == b""
serve(listed, "BREW", validated=False)
done("listed", "method=HEAD;status=200")
done("listed", "method=other;status=200")
assert serve(generated, parts=1)[1] == b"a"  # the client has gone
log.note(log.COUNT, "part")
done("generated", metric=log.ABORTS)
assert serve(again) == ("500 Sorry", b"c")
done("again", "method=GET;status=500", log.ABORTS)
for application in (too_late, raising_later, raising_last):
    fails(ValueError if application is too_late else LookupError, application)
    done(application.__name__, metric=log.ABORTS)
fails(LookupError, raising)
done("raising", "method=GET", log.ABORTS)
assert serve(a_file, validated=False) == ("200 OK", b"ab")
done("a_file")
serve(not_modified, parts=0)
done("not_modified", "method=GET;status=304")
serve(said, route=lambda environ: "/other")
done("said", "method=GET;route=/item/:id;status=410", log.ABORTS)
serve(listed, route=lambda environ: environ["REQUEST_METHOD"].lower())
done("listed", "method=GET;route=get;status=200")
serve(ended)
log.note(log.ABORTS, "ended")
middleware = wsgi.Middleware(listed, trace.Tag("forgotten", kind=1))
middleware({"HTTP_TRACEPARENT": CAME_IN, "HTTP_TRACESTATE": "a=b"}, lambda *_: None)  # a server that does not close
done("forgotten", "kind=1;method=other;status=200", log.ABORTS)
log.write()
