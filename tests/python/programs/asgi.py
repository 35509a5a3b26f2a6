# SPDX-License-Identifier: LGPL-2.1-or-later
"""ASGI applications of each kind under the middleware. With an argument, nothing is traced."""

import asyncio
import gc
import io
import os
import signal
import sys
import types
import weakref

import log
import pcp_trace as trace
from pcp_trace import asgi

INSIDE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
INCOMING = [(name.encode(), value.encode()) for name, value in INSIDE.items()]
INSIDE = {} if sys.argv[1:] else INSIDE
freed = []
gc.disable()


async def serve(application, kind="http", method="GET", **options):
    """A server; its client goes away at once. Gives the messages that the application has sent."""
    scope = {"type": kind, "method": method, "path": "/item/4711", "headers": iter(INCOMING), "upload": io.BytesIO()}
    freed.append(weakref.ref(scope["upload"]))
    sent = []

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        await asyncio.sleep(0)  # load: others have their turn
        sent.append(message["type"])

    try:
        serving = asgi.Middleware(application, application.__name__, **options)(scope, receive, send)
        await (asyncio.wait_for(serving, 0.1) if application is waiting else serving)
        assert application not in (working_on, raising, raising_later, waiting)
    except (LookupError, TimeoutError):  # reaches the server
        assert application in (working_on, raising, raising_later, waiting)
    assert trace.headers() == {}
    return sent


async def respond(send, status=200, last=True, receive=None, **more):
    assert trace.headers() == INSIDE
    await send({"type": "http.response.start", "status": status, "headers": [], **more})
    await send({"type": "http.response.body", "body": b"a", "more_body": True})
    await send({"type": "http.response.body", "body": None, "more_body": True})
    if receive:
        await receive()
    if last:
        await send({"type": "http.response.body", "body": b""})


async def routed(scope, receive, send):
    assert list(scope["headers"]) == list(scope["headers"]) == INCOMING
    scope["route"] = types.SimpleNamespace(path="/item/{id:int}")
    await respond(send)


async def working_on(scope, receive, send):
    """Its work after the response is no part of the request's time, and of its failures."""
    await respond(send)
    assert trace.headers() == INSIDE
    await raising(scope, receive, send)


async def with_trailers(scope, receive, send):
    await respond(send, trailers=True)
    scope["pcp_trace.request"].running.label("last", "no")
    await send({"type": "http.response.trailers", "headers": []})
    scope["pcp_trace.request"].running.label("last", "yes")


async def said(scope, receive, send):
    request = dict(scope)["pcp_trace.request"]  # frameworks may copy the scope
    request.route, request.failure = "/item/:id", ValueError("sold out")
    await respond(send, 410)


async def failed(scope, receive, send):
    await respond(send, 503)


async def raising(scope, receive, send):
    raise LookupError


async def raising_later(scope, receive, send):
    await respond(send, last=False)
    raise LookupError


async def waiting(scope, receive, send):
    await asyncio.sleep(1000)  # load: until it is cancelled


async def left(scope, receive, send):
    await receive()
    await respond(send)


def early(length, status=200):
    async def early(scope, receive, send):
        await respond(send, status, receive=receive, headers=[(b"Content-Length", length)])
    return early


async def incomplete(scope, receive, send):
    await respond(send, last=False)


async def against_asgi(scope, receive, send):
    await send({"type": "http.response.start"})
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", 1)]})
    await send({"type": "http.response.body", "body": 1, "more_body": True})
    await respond(send)


async def untraced(scope, receive, send):
    assert trace.headers() == {} and "pcp_trace.request" not in scope
    await send({"type": "lifespan.shutdown.complete"})


async def main():
    await asyncio.gather(*(serve(routed, method=method) for method in ("GET", "BREW") * 10))
    for method in ("GET", "other"):
        log.note(log.COUNT, f"routed{{method={method};route=/item/:id;status=200}}", 10)
    for application, labels, metric, options in (
            (routed, ";status=200", log.COUNT, {"route": lambda _: None}), (working_on, ";status=200", log.COUNT, {}),
            (with_trailers, ";status=200", log.COUNT, {}), (said, ";route=/item/:id;status=410", log.ABORTS, {}),
            (failed, ";status=503", log.ABORTS, {}), (raising, ";status=500", log.ABORTS, {}), (waiting, "", log.ABORTS, {}),
            (raising_later, ";status=200", log.ABORTS, {}), (left, ";status=200", log.ABORTS, {}),
            (incomplete, ";status=200", log.ABORTS, {}), (against_asgi, ";status=200", log.COUNT, {}), (early(b"2"), ";status=200", log.ABORTS, {}),
            (early(b"9" * 5000), ";status=200", log.ABORTS, {}),
            (early(b"1"), ";status=200", log.COUNT, {}), (early(b"2", 304), ";status=304", log.COUNT, {}),
            (early(b"2"), ";status=200", log.COUNT, {"method": "HEAD"})):
        label = "last=no;" if application is with_trailers else ""
        log.note(metric, f"{application.__name__}{{{label}method={options.get('method', 'GET')}{labels}}}")
        await serve(application, **options)
        assert application is waiting or not any(each() for each in freed), application  # wait_for has a cycle
        freed.clear()


if pid := os.fork():
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    sys.exit()
asyncio.run(main())
log.write()
for kind in ("websocket", "lifespan"):
    assert asyncio.run(serve(untraced, kind)) == ["lifespan.shutdown.complete"]
os.kill(os.getpid(), signal.SIGKILL)  # as late as uvicorn's own signal
