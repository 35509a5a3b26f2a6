# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passes the current trace on with the requests of httpx, with Client as with AsyncClient:

    httpx.AsyncClient(event_hooks={"request": [pcp_trace.httpx.add_headers]})
"""

from collections.abc import Awaitable, Iterator
from typing import Any

from . import headers

__all__ = ["add_headers"]


class _Done(Awaitable[None]):
    """An AsyncClient awaits it."""

    def __await__(self) -> Iterator[None]:  # type: ignore[override]
        return iter(())


_done = _Done()


def add_headers(request: Any) -> Awaitable[None]:
    """Leaves requests alone that have a header traceparent or tracestate."""
    for name, value in request.extensions.get("pcp_trace", {}).items():  # it was sent before, or is a redirect
        if request.headers.get(name) == value:
            del request.headers[name]
    if "traceparent" not in request.headers and "tracestate" not in request.headers:
        passed = headers()
        request.headers.update(passed)
        request.extensions = {**request.extensions, "pcp_trace": passed}
    return _done
