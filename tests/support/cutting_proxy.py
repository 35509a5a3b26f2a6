# SPDX-License-Identifier: LGPL-2.1-or-later
"""A network that breaks: forwards TCP connections to an agent, and cuts them on request."""

import socket

from listener import Listener, shut


class CuttingProxy(Listener):
    """A byte that has been taken from one side may be lost, as on a real network: cut() does not wait for bytes on
    their way, nor deliver them."""

    def __init__(self, port):
        self._target = ("127.0.0.1", port)
        self.cuts = 0
        super().__init__()

    def cut(self):
        """Cuts all connections that there are now."""
        self.cuts += self.shut_all()

    def take(self, client):
        try:
            agent = socket.create_connection(self._target)
        except OSError:
            client.close()
            return
        for end in (client, agent):  # else second halves wait until first ones are acknowledged
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.open_ends |= {client, agent}
            self.connections += 1
        self.start(self._forward, client, agent)
        self.start(self._forward, agent, client)

    def _forward(self, source, sink):
        try:
            while data := source.recv(4096):
                # The second half follows later: a cut may come between.
                for part in (data[:len(data) // 2], data[len(data) // 2:]):
                    sink.sendall(part)
        except OSError:
            pass
        with self.lock:
            self.open_ends -= {source, sink}
            shut(source)
            shut(sink)


class Tunnel(CuttingProxy):
    """A proxy for TLS, which has one target."""

    def take(self, client):
        asked = b""
        while not asked.endswith(b"\r\n\r\n"):
            asked += client.recv(1)
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        super().take(client)
