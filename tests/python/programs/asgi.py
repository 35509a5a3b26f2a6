# SPDX-License-Identifier: LGPL-2.1-or-later
"""ASGI applications of each kind under the middleware. Each has a tag of its own. With an argument, nothing is traced."""

import asyncio
import os
import signal
import sys
import types

import log
import pcp_trace as trace
from pcp_trace import asgi

CAME_IN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
INSIDE = {} if sys.argv[1:] else {"traceparent": CAME_IN}


def start(status=200, **more):
    return {"type": "http.response.start", "status": status, "headers": [], **more}


def body(part=b"a", **more):
    return {"type": "http.response.body", "body": part, **more}


async def serve(application, kind="http", method="GET", **options):
    """A server; a client that goes away before the response. Gives the messages that the application has sent."""
    scope = {"type": kind, "method": method, "path": "/item/4711", "headers": [(b"TraceParent", CAME_IN.encode())]}
    sent = []

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        await asyncio.sleep(0)  # load: others have their turn
        sent.append(message)

    await asgi.Middleware(application, application.__name__, **options)(scope, receive, send)
    assert trace.headers() == {}
    return [message["type"].rpartition(".")[2] for message in sent]


async def fails(problem, application):
    try:
        await asyncio.wait_for(serve(application), 0.1)
    except problem:
        return
    raise AssertionError(f"{application.__name__} has not failed")


def done(tag, labels="method=GET;status=200", metric=log.COUNT):
    log.note(metric, f"{tag}{{{labels}}}")


async def routed(scope, receive, send):
    scope["route"] = types.SimpleNamespace(path="/item/{id:int}")
    assert trace.headers() == INSIDE
    await send(start())
    await send(body(more_body=True))
    await send(body(b""))


async def working_on(scope, receive, send):
    """Its own work after the response is no part of the request's time, and of its failures."""
    await send(start())
    await send(body())
    assert trace.headers() == INSIDE
    await receive()
    raise LookupError


async def with_trailers(scope, receive, send):
    await send(start(trailers=True))
    await send(body())
    scope["pcp_trace.request"].running.label("last", "no")
    await send({"type": "http.response.trailers", "headers": []})
    scope["pcp_trace.request"].running.label("last", "yes")


async def said(scope, receive, send):
    request = dict(scope)["pcp_trace.request"]  # frameworks may copy the scope
    request.route, request.failure = "/item/:id", ValueError("sold out")
    await send(start(410))
    await send(body())


async def failed(scope, receive, send):
    await send(start(503))
    await send(body())


async def raising(scope, receive, send):
    raise LookupError


async def raising_later(scope, receive, send):
    await send(start())
    await send(body(more_body=True))
    raise LookupError


async def waiting(scope, receive, send):
    await asyncio.sleep(1000)  # load: until it is cancelled


async def left(scope, receive, send):
    await send(start())
    await receive()
    await send(body())


async def left_at_once(scope, receive, send):
    await receive()


async def incomplete(scope, receive, send):
    await send(start())


async def untraced(scope, receive, send):
    assert trace.headers() == {} and "pcp_trace.request" not in scope
    await send({"type": "websocket.close"})


async def main():
    for found in await asyncio.gather(*(serve(routed, method=method) for method in ("GET", "BREW") * 10)):
        assert found == ["start", "body", "body"]
    for method in ("GET", "other"):
        log.note(log.COUNT, f"routed{{method={method};route=/item/:id;status=200}}", 10)
    await serve(routed, route=lambda scope: None)
    done("routed")
    await fails(LookupError, working_on)
    done("working_on")
    assert await serve(with_trailers) == ["start", "body", "trailers"]
    done("with_trailers", "last=no;method=GET;status=200")
    await serve(said)
    done("said", "method=GET;route=/item/:id;status=410", log.ABORTS)
    await serve(failed)
    done("failed", "method=GET;status=503", log.ABORTS)
    for problem, application in ((LookupError, raising), (TimeoutError, waiting)):
        await fails(problem, application)
        done(application.__name__, "method=GET", log.ABORTS)
    await fails(LookupError, raising_later)
    await serve(left)
    await serve(incomplete)
    for application in (raising_later, left, incomplete):
        done(application.__name__, metric=log.ABORTS)
    await serve(left_at_once)
    done("left_at_once", "method=GET", log.ABORTS)
    for kind in ("websocket", "lifespan"):
        assert await serve(untraced, kind) == ["close"]


async def stopping(scope, receive, send):
    await send({"type": "lifespan.shutdown.complete"})


if pid := os.fork():
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    sys.exit()
asyncio.run(main())
log.write()
asyncio.run(serve(stopping, "lifespan"))
os.kill(os.getpid(), signal.SIGKILL)  # as late as uvicorn's own signal
