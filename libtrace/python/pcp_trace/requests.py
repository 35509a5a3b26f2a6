# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passes the current trace on with the requests of a session of requests, to the addresses that begin so:

    session.mount("https://stock.example/", pcp_trace.requests.Adapter())
"""

from typing import Any

from requests.adapters import HTTPAdapter

from . import headers

__all__ = ["Adapter"]


class Adapter(HTTPAdapter):
    """Leaves requests alone that have a header traceparent or tracestate."""

    def send(self, request: Any, *arguments: Any, **options: Any) -> Any:
        traced = request.copy()  # the program may send its own again, and redirects are made from that
        if "traceparent" not in request.headers and "tracestate" not in request.headers:
            traced.headers.update(headers())
        response = super().send(traced, *arguments, **options)
        response.request = request
        return response
