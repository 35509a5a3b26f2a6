# SPDX-License-Identifier: LGPL-2.1-or-later
"""A server of OpenTelemetry, as a test tells it: good, busy, refusing, silent or mad.

It reads requests with the module that protoc makes of otlp.proto."""

import collections
import contextlib
import gzip
import http.server
import importlib
import os
import socketserver
import sys
import tempfile
import threading
import urllib.parse

from private_pmcd import ReservedPort, completed

Request = collections.namedtuple("Request", "path headers message rejected")


def messages(name):
    """Gives protoc's module of this file here."""
    with tempfile.TemporaryDirectory(prefix="trace-") as folder:
        completed("protoc", f"--proto_path={os.path.dirname(__file__)}", f"--python_out={folder}", f"{name}.proto",
                  check=True)
        sys.path.insert(0, folder)
        sys.path.append("/usr/lib/python3/dist-packages")  # protobuf is Debian's, and this Python may be another
        try:
            return importlib.import_module(f"{name}_pb2")
        finally:
            sys.path.remove(folder)
            sys.path.pop()


OTLP = messages("otlp")
READERS = {"/v1/metrics": OTLP.MetricsRequest, "/v1/traces": OTLP.SpansRequest}


def attributes_of(message):
    """Gives a resource's, span's or point's attributes as a dictionary. AssertionError if a key is there twice."""
    made = {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in message.attributes}
    assert len(made) == len(message.attributes), message
    return made


class Answer:
    """A server's answer to a request that it has read. `rejected`: it leaves so many items out of those that it accepts."""

    reads = True

    def __init__(self, status=200, body=b"", headers=(), rejected=0):
        self.status, self.body, self.headers, self.rejected = status, body, dict(headers), rejected
        self.accepts = status // 100 == 2

    def give(self, handler):
        self.send(handler, len(self.body), self.body)

    def send(self, handler, length, body):
        handler.send_response(self.status)
        for name, value in self.headers.items():
            handler.send_header(name, value)
        if length is not None:
            handler.send_header("Content-Length", length)
        handler.end_headers()
        handler.wfile.write(body)


class Half(Answer):
    """A good status, and half of the rest."""

    def give(self, handler):
        self.send(handler, 100, b"half")
        handler.close_connection = True


class Endless(Answer):
    """A good status, and no end of the rest, until the client goes."""

    def give(self, handler):
        self.send(handler, None, b"more")
        while True:
            handler.wfile.write(b"more" * 1000)


class Nothing(Answer):
    """The connection ends, or stays open until the client goes."""

    def __init__(self, reads=True, hangs=False):
        super().__init__(0)
        self.reads, self.hangs = reads, hangs

    def give(self, handler):
        if self.hangs:
            handler.rfile.read(1)
        handler.close_connection = True


def partial(rejected, message="too old"):
    body = OTLP.Response(partial_success=OTLP.Response.Partial(rejected=rejected, error_message=message))
    return Answer(body=body.SerializeToString(), rejected=rejected)


def refusal(status, message):
    return Answer(status, OTLP.Refusal(message=message).SerializeToString())


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        with contextlib.suppress(OSError):  # the client may go first
            answer = self.server.next_answer()
            if answer.reads:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.server.note(self.path, dict(self.headers), body, answer)
            answer.give(self)

    def log_message(self, *_):
        pass


class OtlpServer(socketserver.ThreadingTCPServer):
    """`answers`: those to the next requests; all others are good. `accepted` are the requests that had a good answer, and
    `requests` counts all. `context`: that of TLS. It listens from listen() on, and refuses connections before."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, answers=(), context=None):
        self._reserved = ReservedPort()
        super().__init__(("127.0.0.1", self._reserved.number), _Handler, bind_and_activate=False)
        self.answers = collections.deque(answers)
        self.accepted, self.requests = [], 0
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self._reserved.number}"
        self._context, self._lock, self._thread = context, threading.Lock(), threading.Thread(target=self.serve_forever)

    def listen(self):
        self.server_bind()
        self.server_activate()
        self._thread.start()
        return self

    def __exit__(self, *exception):
        if self._thread.is_alive():
            self.shutdown()
            self._thread.join()
        super().__exit__(*exception)
        self._reserved.close()

    def finish_request(self, request, client_address):
        with self._context.wrap_socket(request, server_side=True) if self._context else request as connection:
            super().finish_request(connection, client_address)

    def handle_error(self, *_):
        """A client that does not like our certificate goes."""

    def next_answer(self):
        with self._lock:
            self.requests += 1
            return self.answers.popleft() if self.answers else Answer()

    def note(self, path, headers, body, answer):
        if not answer.accepts:
            return
        reader = READERS[urllib.parse.urlsplit(path).path]  # a proxy gets a whole address
        message = reader.FromString(gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body)
        with self._lock:
            self.accepted.append(Request(path, headers, message, answer.rejected))

    def points(self):
        """Gives triples of a resource, a metric and a data point."""
        return [(each.resource, metric, point) for request in list(self.accepted) if request.path == "/v1/metrics"
                for each in request.message.resource_metrics for scope in each.scope_metrics for metric in scope.metrics
                for point in getattr(metric, metric.WhichOneof("data")).data_points]

    def spans(self):
        """Gives pairs of a resource and a span."""
        return [(each.resource, span) for request in list(self.accepted) if request.path == "/v1/traces"
                for each in request.message.resource_spans for scope in each.scope_spans for span in scope.spans]
