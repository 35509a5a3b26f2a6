# SPDX-License-Identifier: LGPL-2.1-or-later
"""An agent of version 1 that notes everything a library does to it."""

import legacy_wire
from listener import Listener


class FakeAgent(Listener):
    """Greets each connection with `greeting` (1: welcome, negative: refused, and closed), acknowledges calls that want
    it, and keeps all that it received."""

    def __init__(self, greeting=1):
        self._greeting = greeting
        self._received = []
        super().__init__()

    @property
    def pdus(self):
        """All PDUs received, of all connections."""
        with self.lock:
            return list(self._received)

    def data(self):
        return [legacy_wire.decode_data(pdu.payload) for pdu in self.pdus
                if pdu.type == legacy_wire.DATA]

    def take(self, connection):
        with self.lock:
            self.open_ends.add(connection)
            self.connections += 1
        self.start(self._serve, connection)

    def _serve(self, connection):
        with connection:
            try:
                connection.sendall(legacy_wire.encode_ack(self._greeting))
                while self._greeting >= 0:
                    self._receive(connection, legacy_wire.read_pdu(connection))
            except (EOFError, OSError):
                pass

    def _receive(self, connection, pdu):
        with self.lock:
            self._received.append(pdu)
        if pdu.type == legacy_wire.DATA:
            data = legacy_wire.decode_data(pdu.payload)
            if data.wants_ack:
                connection.sendall(legacy_wire.encode_ack(data.type))
