# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passes the current trace on with the requests of urllib.request:

    urllib.request.install_opener(urllib.request.build_opener(pcp_trace.urllib.Handler))
"""

import urllib.request

from . import headers

__all__ = ["Handler"]

_NAMES = ("Traceparent", "Tracestate")


class _Passed(str):
    """A header of this handler's, which goes when the program opens the same request again."""


class Handler(urllib.request.BaseHandler):
    """For build_opener. Leaves requests alone that have a header traceparent or tracestate."""

    def http_request(self, request: urllib.request.Request) -> urllib.request.Request:
        for name in _NAMES:
            if isinstance(request.unredirected_hdrs.get(name), _Passed):
                del request.unredirected_hdrs[name]
        if not any(map(request.has_header, _NAMES)):
            for name, value in headers().items():
                request.add_unredirected_header(name, _Passed(value))
        return request

    https_request = http_request
