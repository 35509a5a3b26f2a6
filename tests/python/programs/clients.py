# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests by each client to a server in this program, which sees the trace of the transaction around them."""

import asyncio
import http.server
import sys
import threading
import urllib.request

import pcp_trace as trace
import pcp_trace.urllib

CAME_IN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE = {"traceparent": CAME_IN, "tracestate": "a=b"}
received = []


class Backend(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        received.append({name: self.headers[name] for name in TRACE if name in self.headers})
        self.send_response(302 if self.path == "/redirected" else 200)
        self.send_header("Location", "/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def check(get):
    for headers, expected in ((TRACE, TRACE), ({}, {})):
        with trace.begin_from("request", headers):
            for path, count in (("/", 1), ("/redirected", 2)):
                get(path, {})
                assert received == [expected] * count, received
                received.clear()
            get("/", {"Traceparent": "x"})  # the program knows better
            assert received.pop() == {"traceparent": "x"}


async def check_asynchronous(client):
    with trace.begin_from("request", TRACE):
        await asyncio.gather(*(client.get(url) for _ in range(3)))
    await client.get(url)
    assert received == [TRACE] * 3 + [{}], received


async def asynchronous():
    async with httpx.AsyncClient(event_hooks={"request": [pcp_trace.httpx.add_headers]}) as client:
        await check_asynchronous(client)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"

opener = urllib.request.build_opener(pcp_trace.urllib.Handler)
check(lambda path, headers: opener.open(urllib.request.Request(url + path, headers=headers)).close())
assert not {"requests", "httpx"} & set(sys.modules)

import pcp_trace.requests
import requests
with requests.Session() as session:
    session.mount(url, pcp_trace.requests.Adapter())
    check(lambda path, headers: session.get(url + path, headers=headers))

import httpx
import pcp_trace.httpx
with httpx.Client(event_hooks={"request": [pcp_trace.httpx.add_headers]}, follow_redirects=True) as client:
    check(lambda path, headers: client.get(url + path, headers=headers))
asyncio.run(asynchronous())
server.shutdown()
