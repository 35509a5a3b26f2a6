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
    """Leaves requests alone that have a header traceparent."""
    if "traceparent" not in request.headers:
        request.headers.update(headers())
    return _done
