# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each request of a WSGI application as a transaction, which ends when the server closes the response:

    pcp_trace.wsgi.trace_flask(application)
    application = pcp_trace.wsgi.Middleware(application)  # any other one

See getting-started.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import Tag
from ._served import CLIENT_HAS_GONE, Request, short, tag_of

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["Middleware", "trace_flask"]

_HEADERS = (("traceparent", "HTTP_TRACEPARENT"), ("tracestate", "HTTP_TRACESTATE"))
_END: Any = object()


def trace_flask(application: Any, tag: str | Tag = "request") -> None:
    """Traces the requests of a Flask application: by its rules, such as /item/<int:id>, and with the exceptions that it
    does not handle."""
    application.wsgi_app = Middleware(application.wsgi_app, tag)

    def end(problem: BaseException | None) -> None:
        from flask import request as flasks
        request = flasks.environ.get("pcp_trace.request")
        if request is not None:
            if request.route is None and flasks.url_rule is not None:
                request.route = short(flasks.url_rule.rule)
            if request.failure is None:
                request.failure = problem

    application.teardown_request(end)


class Middleware:
    """An application around another one. `route` gives the route, or None, when the response begins; the application can
    also set environ["pcp_trace.request"].route."""

    def __init__(self, application: WSGIApplication, tag: str | Tag = "request",
                 route: Callable[[WSGIEnvironment], str | None] = lambda environ: None) -> None:
        self._application = application
        self._tag = tag_of(tag)
        self._route = route

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        headers = {name: environ[key] for name, key in _HEADERS if key in environ}
        method, path = environ.get("REQUEST_METHOD", ""), environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        path = path if path.isascii() else path.encode("latin-1", "replace").decode("utf-8", "replace")  # PEP 3333
        request = Request(self._tag, headers, method, path, lambda: self._route(environ))
        environ["pcp_trace.request"] = request

        def start(status: str, headers: Any, exc_info: Any = None) -> Any:
            try:  # it raises if another status has been sent
                if exc_info is None:
                    write = start_response(status, headers)
                else:
                    write = start_response(status, headers, exc_info)
            finally:
                exc_info = None  # PEP 3333: its traceback leads to this call
            request.begin_response(status[:3])

            def write_and_note(part: bytes) -> object:
                request.is_sent = True
                return write(part)

            return write_and_note

        response = _Response(request, method == "HEAD")
        return response.of(response.work(self._application, environ, start), environ.get("wsgi.file_wrapper"))


class _Response:
    """The body that the server gets. The transaction is current only while the application works: the server may serve
    others on this thread between two parts."""

    def __init__(self, request: Request, may_be_short: bool) -> None:
        self._request = request
        self._is_whole = may_be_short  # the server has all that it wants
        self._body: Any = None
        self._close: Callable[[], object] | None = None
        self._is_open = True
        self._running: Any = request.running
        self._running.__enter__()
        self._running._suspend()

    def work(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Lets the application work, inside of the transaction."""
        if not self._is_open:
            return call(*arguments)
        self._running._resume()
        try:
            return call(*arguments)
        except BaseException as problem:
            if not self._request.is_sent:
                self._request.status = None  # the server answers by itself
            self._end(problem)
            raise
        finally:
            if self._is_open:
                self._running._suspend()

    def of(self, body: Iterable[bytes], file_wrapper: Any) -> Iterable[bytes]:
        self._close = getattr(body, "close", None)
        if isinstance(file_wrapper, type) and isinstance(body, file_wrapper):
            self._is_whole = self._request.is_sent = True
            try:
                setattr(body, "close", self.close)  # and the body stays, since the server sends the file without reading it
            except (AttributeError, TypeError):  # a type of C, as mod_wsgi's
                self._finish()
            return body
        try:
            self._parts = self.work(iter, body)
        except BaseException:
            self.close()  # the server does not get it
            raise
        if hasattr(body, "__len__"):
            self._body = body
            self.__class__ = _SizedResponse
        return self

    def __iter__(self) -> _Response:
        return self

    def __next__(self) -> bytes:
        part: bytes = self.work(next, self._parts, _END)
        self._request.is_sent = True  # with its status
        if part is _END:
            self._is_whole = True
            raise StopIteration
        return part

    def close(self) -> None:
        close, self._close = self._close, None  # of a file, it leads back here
        try:
            if close is not None:
                self.work(close)
        finally:
            self._finish()

    def _finish(self) -> None:
        if self._is_open:
            self._running._resume()
            is_whole = self._is_whole or self._request.status in ("204", "304")
            self._end(None if is_whole else CLIENT_HAS_GONE)

    __del__ = _finish  # a server that does not close

    def _end(self, failure: str | BaseException | None) -> None:
        self._is_open = False
        try:
            self._request.end(failure)
        finally:
            self._running.__exit__(None, None, None)


class _SizedResponse(_Response):
    """A server gives a body of one part its length as Content-Length."""

    def __len__(self) -> int:
        return len(self._body)
