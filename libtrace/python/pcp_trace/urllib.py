# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passes the current trace on with the requests of urllib.request:

    urllib.request.install_opener(urllib.request.build_opener(pcp_trace.urllib.Handler))
"""

import urllib.request

from . import headers

__all__ = ["Handler"]


class Handler(urllib.request.BaseHandler):
    """For build_opener. Leaves requests alone that have a header traceparent."""

    def http_request(self, request: urllib.request.Request) -> urllib.request.Request:
        if not request.has_header("Traceparent"):
            for name, value in headers().items():
                request.add_unredirected_header(name, value)
        return request

    https_request = http_request
