# SPDX-License-Identifier: LGPL-2.1-or-later
"""A request that a server answers: shared by wsgi.py and asgi.py."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
from collections.abc import Callable
from typing import Any

from . import Tag

# A client may send any word as its method, and a label must have few values.
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"))
CLIENT_HAS_GONE = "the client has gone"


def tag_of(tag: str | Tag) -> Tag:
    """Refuses what is none where the program makes its middleware."""
    if not isinstance(tag, str | Tag):
        raise TypeError(f"tag must be str or Tag, not {type(tag).__name__}")
    return Tag(tag) if isinstance(tag, str) else tag


@functools.lru_cache(1000)
def short(rule: str) -> str:
    """Gives /item/:id for Flask's /item/<int:id> and for FastAPI's /item/{id}: a tag's text would escape the others."""
    return re.sub(r"<(?:[^<>]*:)?(\w+)>|{(\w+)(?::\w+)?}", lambda found: ":" + (found[1] or found[2]), rule)


@functools.cache
def _say_once(line: str) -> None:
    with contextlib.suppress(AttributeError, OSError, ValueError):  # nobody has standard error
        sys.stderr.write(line + "\n")


class Request:
    """The key "pcp_trace.request" of the application's environ or scope. The application may set the route, let the
    request fail by a reason, and give its running transaction notes and labels."""

    __slots__ = ("running", "route", "failure", "status", "is_sent", "_method", "_find_route")
    _TYPES = {"route": str | None, "failure": str | BaseException | None}

    def __init__(self, tag: Tag, headers: Any, method: str, path: str, find_route: Callable[[], str | None]) -> None:
        self.running = tag.begin_from(headers)
        self.route: str | None = None
        self.failure: str | BaseException | None = None
        self.status: str | None = None  # three digits
        self.is_sent = False  # WSGI: a part of the body, and so the status
        self._method = method if method in METHODS else "other"
        self._find_route: Callable[[], str | None] | None = find_route
        self.running.note("path", path)  # not a label: it has values without end

    def __setattr__(self, name: str, value: Any) -> None:
        """The application's own line raises, not the end of the request."""
        if not isinstance(value, self._TYPES.get(name, object)):
            raise TypeError(f"{name} must be {self._TYPES[name]}, not {type(value).__name__}")
        super().__setattr__(name, value)

    def begin_response(self, status: str) -> None:
        """The server has taken it. Flask forgets the route soon after."""
        self.status = status
        self._set_route()

    def end(self, failure: str | BaseException | None = None) -> None:
        """Ends the transaction, unless the application has. A status of the server's own failures is one."""
        self._set_route()
        if self.status is None and isinstance(failure, Exception):
            self.status = "500"  # PEP 3333 and ASGI ask the server for it
        for name, value in (("method", self._method), ("route", self.route), ("status", self.status)):
            if value is not None:
                self.running.label(name, value)
        failure = failure if self.failure is None else self.failure
        if failure is None and self.status is not None and self.status.startswith("5"):
            failure = f"status {self.status}"
        if failure is None:
            self.running.end()
        else:
            self.running.fail(failure)
        self.failure = self._find_route = None  # they lead back here: garbage for the cyclic collector alone

    def _set_route(self) -> None:
        try:
            if self.route is None and self._find_route is not None:
                self.route = self._find_route()
        except Exception as problem:  # the application's response is none the worse
            _say_once(f"pcp_trace: the function route= has failed, and gives no label: {type(problem).__name__}")
