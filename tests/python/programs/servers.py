# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts a server with one of the applications, and is its clients, its operator and its backend. Prints what must be
counted, in each of the ways that are possible: servers.py counts|asks|terminated|killed FILE COMMAND...

The command gets a listening socket by its number, which replaces {}. FILE is the application's log."""

import collections
import concurrent.futures
import http.client
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading

HOW, LOG, *COMMAND = sys.argv[1:]
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
received = []


class Backend(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        received.append(self.headers["traceparent"])
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def request(path, method="GET", **headers):
    """Gives the body, None if the worker is killed meanwhile."""
    assert server.poll() is None
    connection = http.client.HTTPConnection(*listener.getsockname(), timeout=60)
    try:
        connection.request(method, path, headers=headers)
        return connection.getresponse().read().decode()
    except (ConnectionError, http.client.HTTPException):
        assert HOW == "killed"
    finally:
        connection.close()


def requests(count=400):
    with concurrent.futures.ThreadPoolExecutor(8) as clients:
        for _ in clients.map(request_number, range(count)):
            pass


def request_number(number):
    request(f"/item/{number}" if number % 50 else f"/nowhere/{number}", ("GET", "POST")[number % 2])
    if HOW == "terminated" and number % 100 == 70:
        os.kill(int(request("/pid")), signal.SIGTERM)


def read_log():
    with open(LOG, encoding="ascii") as log:
        return [json.loads(line) for line in log]


def print_counts():
    counts = collections.defaultdict(collections.Counter)
    for _, metric, tag, _ in read_log():
        counts[metric][tag] += 1
    print(json.dumps(counts))


def ask():
    for number in range(8):
        request("/ask", traceparent=f"00-{TRACE}-{PARENT}-01")
    asked = [line[1] for line in read_log() if line[0] == "request"]
    assert len(asked) == 8 and sorted(asked) == sorted(received), (asked, received)
    with open(LOG, "w", encoding="ascii") as file:  # the spans that the recording must have
        json.dump(sorted(["request", *each.split("-")[1:3], PARENT] for each in asked), file)


def kill():
    """Kills a worker that has handed over all of its calls, and then has had others. Prints its calls since then."""
    victim = int(request("/flushed"))
    requests(100)
    os.kill(victim, signal.SIGKILL)
    requests(100)
    own = [line for line in read_log() if line[0] == victim]
    return {"calls": len(own), "acknowledged": own[-1][3]}


open(LOG, "w", encoding="ascii").close()
backend = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
threading.Thread(target=backend.serve_forever, daemon=True).start()
listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
environment = os.environ | {"LOG": LOG, "BACKEND": f"http://127.0.0.1:{backend.server_port}/"}
environment["PYTHONPATH"] += f":{os.path.dirname(os.path.abspath(__file__))}"
server = subprocess.Popen([word.format(listener.fileno()) for word in COMMAND], env=environment,
                          pass_fds=[listener.fileno()])
try:
    if HOW == "asks":
        ask()
    elif HOW == "killed":
        requests(100)
        killed = kill()
    else:
        requests()
finally:
    server.terminate()
    status = server.wait()
assert status in (0, -signal.SIGTERM), status  # newer versions of uvicorn end by the signal
if HOW != "asks":
    print_counts()
if HOW == "killed":
    print(json.dumps(killed))
