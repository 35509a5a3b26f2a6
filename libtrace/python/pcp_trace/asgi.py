# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each HTTP request of an ASGI application as a transaction, which ends when the server has the whole response:

    application.add_middleware(pcp_trace.asgi.Middleware)  # FastAPI, Starlette

Websockets are passed on untraced. At the end of lifespan the calls are delivered: uvicorn from 0.29 on then ends by the
signal that it got. See getting-started.md.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from . import Tag
from ._native import flush
from ._served import CLIENT_HAS_GONE, Request, short, tag_of

__all__ = ["Middleware", "scope_route"]

_Map = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Map]]
_Send = Callable[[_Map], Awaitable[None]]
_Application = Callable[[_Map, _Receive, _Send], Awaitable[None]]

# The messages that may be a response's last, and what they have if they are not.
_LAST = {"http.response.body": "more_body", "http.response.zerocopysend": "more_body", "http.response.pathsend": "",
         "http.response.trailers": "more_trailers"}


def scope_route(scope: _Map) -> str | None:
    """Gives /item/:id if FastAPI has chosen a route such as /item/{id}; None without one."""
    path = getattr(scope.get("route"), "path", None)
    return short(path) if isinstance(path, str) else None


class Middleware:
    """An application around another one. `route` gives the route, or None, when the response begins; the application can
    also set scope["pcp_trace.request"].route."""

    def __init__(self, app: _Application, tag: str | Tag = "request",
                 route: Callable[[_Map], str | None] = scope_route) -> None:
        self._application = app
        self._tag = tag_of(tag)
        self._route = route

    async def __call__(self, scope: _Map, receive: _Receive, send: _Send) -> None:
        if scope["type"] == "lifespan":
            send = _delivering(send)
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        if not isinstance(scope["headers"], list | tuple):  # perhaps for one loop
            scope = {**scope, "headers": list(scope["headers"])}
        request = Request(self._tag, scope["headers"], scope["method"], scope["path"], lambda: self._route(scope))
        scope["pcp_trace.request"] = request  # not in a copy: frameworks put the route into this scope
        response = _Response(request, receive, send, scope["method"] == "HEAD")
        with request.running:  # also around what goes on after the response
            try:
                await self._application(scope, response.receive, response.send)
            except BaseException as problem:
                response.end(problem)
                raise
            response.end(CLIENT_HAS_GONE if response.has_client_gone else "the response is not complete")


def _delivering(send: _Send) -> _Send:
    async def deliver_first(message: _Map) -> None:
        if message["type"].startswith("lifespan.shutdown."):
            flush(-1)
        await send(message)
    return deliver_first


def _content_length(headers: Iterable[Iterable[bytes]]) -> float:
    for name, value in headers:
        if name.lower() == b"content-length" and value.isdigit() and len(value) < 20:
            return int(value)
    return math.inf


class _Response:
    def __init__(self, request: Request, receive: _Receive, send: _Send, has_no_body: bool) -> None:
        self._request, self._receive, self._send = request, receive, send
        self._has_no_body = has_no_body
        self._bytes_left = math.inf  # with a length, the client may go before the last message
        self._is_open = True
        self._has_trailers = False
        self.has_client_gone = False

    async def receive(self) -> _Map:
        message = await self._receive()
        self.has_client_gone = self.has_client_gone or message["type"] == "http.disconnect"
        return message

    async def send(self, message: _Map) -> None:
        await self._send(message)
        is_complete = False
        with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError):  # the server took what ASGI forbids
            is_complete = self._completes(message)
        if is_complete:
            self.end(CLIENT_HAS_GONE if self.has_client_gone else None)

    def _completes(self, message: _Map) -> bool:
        kind: str = message["type"]
        if kind == "http.response.start":
            self._request.begin_response(str(message["status"]))
            self._has_trailers = message.get("trailers", False)
            if not self._has_trailers:
                is_empty = self._has_no_body or message["status"] in (204, 304)
                self._bytes_left = 0 if is_empty else _content_length(message.get("headers") or ())
        elif kind == "http.response.body":
            self._bytes_left -= len(message.get("body") or b"")
        is_last = kind in _LAST and not message.get(_LAST[kind])
        return self._bytes_left <= 0 or is_last and (not self._has_trailers or kind == "http.response.trailers")

    def end(self, failure: str | BaseException | None) -> None:
        if self._is_open:
            self._is_open = False
            self._request.end(failure)
