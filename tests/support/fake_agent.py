# SPDX-License-Identifier: LGPL-2.1-or-later
"""Agents that note everything a library does to them: one of version 1, and one of version 2."""

import socket
import threading

import batch_wire
import legacy_wire


class FakeAgent:
    """Listens on a free port; greets each connection with `greeting` (1: welcome, negative:
    refused, and closed), acknowledges calls that want it, and keeps all that it received."""

    def __init__(self, greeting=1):
        self._greeting = greeting
        self._lock = threading.Lock()
        self._connections = []
        self._received = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        for connection in self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:  # the peer has closed it already
                pass
        for thread in self._threads[1:]:
            thread.join()

    @property
    def connections(self):
        """The number of connections so far."""
        with self._lock:
            return len(self._connections)

    @property
    def pdus(self):
        """All PDUs received, of all connections."""
        with self._lock:
            return list(self._received)

    def data(self):
        return [legacy_wire.decode_data(pdu.payload) for pdu in self.pdus
                if pdu.type == legacy_wire.DATA]

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            with self._lock:
                self._connections.append(connection)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection):
        with connection:
            try:
                connection.sendall(legacy_wire.encode_ack(self._greeting))
                while self._greeting >= 0:
                    self._take(connection, legacy_wire.read_pdu(connection))
            except (EOFError, OSError):
                pass

    def _take(self, connection, pdu):
        with self._lock:
            self._received.append(pdu)
        if pdu.type == legacy_wire.DATA:
            data = legacy_wire.decode_data(pdu.payload)
            if data.wants_ack:
                connection.sendall(legacy_wire.encode_ack(data.type))


class FakeBatchAgent(FakeAgent):
    """Calls its first `refused` batches malformed and hangs up; acknowledges the others."""

    def __init__(self, refused=0):
        self._to_refuse = refused
        self.refused = []  # sequence numbers of these batches
        self.acknowledged = []
        super().__init__(greeting=2)

    def _take(self, connection, pdu):
        if pdu.type == batch_wire.HELLO:
            connection.sendall(batch_wire.encode_welcome())
        if pdu.type == batch_wire.BATCH:
            sequence = batch_wire.decode_sequence(pdu.payload)
            if len(self.refused) < self._to_refuse:
                self.refused.append(sequence)
                connection.sendall(batch_wire.encode_bye(batch_wire.MALFORMED))
                raise EOFError
            connection.sendall(batch_wire.encode_batch_ack(sequence))
            self.acknowledged.append(sequence)
