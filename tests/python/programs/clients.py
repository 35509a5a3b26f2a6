# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests by each client to a server in this program, which sees the trace of the transaction around them. The argument
is the page with a table that says how to make the clients."""

import asyncio
import http.server
import pathlib
import re
import sys
import threading
import urllib.request

import pcp_trace as trace
import pcp_trace.urllib

CAME_IN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE = {"traceparent": CAME_IN, "tracestate": "a=b"}
HOW = dict(re.findall(r"^\| ([\w.]+) \| `([\w.]+\(.*?\))`", pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"),
                      re.MULTILINE))
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


def check(build, send, redirected=lambda headers: headers):
    """Builds a request once, and sends it in one trace after the other, and in none."""
    again = build("/redirected", {})
    for headers in (TRACE, {"traceparent": CAME_IN.replace("0a", "0b")}, {}):
        with trace.begin_from("request", headers):
            for request in (again, build("/redirected", {})):
                send(request)
                assert received == [headers, redirected(headers)], received
                received.clear()
            for name in TRACE:
                send(build("/", {name.title(): "x"}))  # the program knows better
                assert received.pop() == {name: "x"}


async def check_asynchronous(client):
    with trace.begin_from("request", TRACE):
        await asyncio.gather(*(client.get(url) for _ in range(3)))
    await client.get(url)
    assert received == [TRACE] * 3 + [{}], received


async def asynchronous():
    async with eval(HOW["httpx"]) as client:
        await check_asynchronous(client)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"

eval(HOW["urllib.request"])
check(lambda path, headers: urllib.request.Request(url + path, headers=headers),
      lambda request: urllib.request.urlopen(request).close())
assert not {"requests", "httpx"} & set(sys.modules)

import pcp_trace.requests
import requests
with requests.Session() as session:
    eval(HOW["requests"])
    session.mount(url + "/redirected", session.get_adapter("https://stock.example/item"))
    check(lambda path, headers: requests.Request("GET", url + path, headers).prepare(), session.send, lambda _: {})

import httpx
import pcp_trace.httpx
with httpx.Client(event_hooks={"request": [pcp_trace.httpx.add_headers]}, follow_redirects=True) as client:
    check(lambda path, headers: client.build_request("GET", url + path, headers=headers), client.send)
asyncio.run(asynchronous())
server.shutdown()
