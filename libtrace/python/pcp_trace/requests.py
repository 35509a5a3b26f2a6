# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passes the current trace on with the requests of a session of requests, to the addresses that begin so:

    session.mount("https://stock.example/", pcp_trace.requests.Adapter())
"""

from typing import Any

from requests.adapters import HTTPAdapter

from . import headers

__all__ = ["Adapter"]


class Adapter(HTTPAdapter):
    """Leaves requests alone that have a header traceparent."""

    def add_headers(self, request: Any, **options: Any) -> None:
        super().add_headers(request, **options)
        if "traceparent" not in request.headers:
            request.headers.update(headers())
