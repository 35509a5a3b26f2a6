# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same as flask_application.py, as an ASGI application of its own."""

import asyncio
import json
import os
import types

import httpx
import pcp_trace as trace
import pcp_trace.asgi
import pcp_trace.httpx

log = os.open(os.environ["LOG"], os.O_WRONLY | os.O_APPEND)
client = httpx.AsyncClient(event_hooks={"request": [pcp_trace.httpx.add_headers]}, trust_env=False)


def write(*line):
    os.write(log, (json.dumps(line) + "\n").encode())


async def serve(scope, receive, send):
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})
        return
    path = scope["path"].split("/")
    number = int(path[2]) if path[1] == "item" else 1
    status = 404 if number % 5 == 0 else 500 if number % 7 == 0 else 200
    route = f"/{path[1]}/:number" if len(path) > 2 else scope["path"]
    scope["route"] = types.SimpleNamespace(path=route.replace(":number", "{number}"))  # as FastAPI's
    content = str(os.getpid())
    if route == "/ask":
        write("request", trace.headers()["traceparent"])
        content = (await client.get(os.environ["BACKEND"])).text
    await asyncio.sleep(0.001 * (number % 3))  # load: others have their turn
    has_failed = number % 11 == 0
    label = f";status={500 if has_failed else status}"
    write(os.getpid(), "transact.aborts" if has_failed or status == 500 else "transact.count",
          f"request{{method={scope['method']};route={route}{label}}}", trace.stats()["acknowledged"])
    if has_failed:
        raise LookupError(number)  # the server answers
    await send({"type": "http.response.start", "status": status, "headers": []})
    for part in range(number % 4):
        await send({"type": "http.response.body", "body": b"part\n", "more_body": True})
    await send({"type": "http.response.body", "body": content.encode()})


application = pcp_trace.asgi.Middleware(serve)
