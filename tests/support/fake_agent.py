# SPDX-License-Identifier: LGPL-2.1-or-later
"""Agents that note everything a library does to them: one of version 1, and one of version 2."""

import batch_wire
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


class FakeBatchAgent(FakeAgent):
    """Calls its first `refused` batches malformed and hangs up; acknowledges the others."""

    def __init__(self, refused=0):
        self._to_refuse = refused
        self.refused = []  # sequence numbers of these batches
        self.acknowledged = []
        super().__init__(greeting=2)

    def _receive(self, connection, pdu):
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
