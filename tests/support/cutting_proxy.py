# SPDX-License-Identifier: LGPL-2.1-or-later
"""A network that breaks: forwards TCP connections to an agent, and cuts them on request."""

import socket
import threading


class CuttingProxy:
    """Listens on a free port of its own. A byte that has been taken from one side may be lost, as
    on a real network: cut() does not wait for bytes on their way, nor deliver them."""

    def __init__(self, port):
        self._target = ("127.0.0.1", port)
        self._lock = threading.Lock()
        self._open = set()
        self._threads = []
        self.cuts = self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._start(self._accept)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        while self._threads:
            self._threads.pop().join()

    def cut(self):
        """Cuts all connections that there are now."""
        with self._lock:
            self.cuts += bool(self._open)
            for end in self._open:
                self._shut(end)

    def _start(self, run, *arguments):
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                agent = socket.create_connection(self._target)
            except OSError:
                client.close()
                continue
            for end in (client, agent):  # else second halves wait until first ones are acknowledged
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._open |= {client, agent}
                self.connections += 1
            self._start(self._forward, client, agent)
            self._start(self._forward, agent, client)

    def _forward(self, source, sink):
        try:
            while data := source.recv(4096):
                # The second half follows later: a cut may come between.
                for part in (data[:len(data) // 2], data[len(data) // 2:]):
                    sink.sendall(part)
        except OSError:
            pass
        with self._lock:
            self._open -= {source, sink}
            self._shut(source)
            self._shut(sink)

    @staticmethod
    def _shut(end):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:  # it is closed already
            pass
