# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library's PDUs to an agent of version 1."""

import socket
import struct

import legacy_wire
from fake_agent import FakeAgent
from private_pmcd import PATIENCE_S
from trace_test import TraceTestCase, library_environment, with_each_agent, with_each_library


@with_each_library
class Wire(TraceTestCase):
    def setUp(self):
        self.fake = FakeAgent()
        self.addCleanup(self.fake.__exit__)

    def fake_environment(self, **variables):
        return library_environment(self.library, PCP_TRACE_HOST="127.0.0.1",
                                   PCP_TRACE_PORT=self.fake.port, **variables)

    def test_a_point_is_these_bytes(self):
        traced = self.start_traced(self.fake_environment())
        self.assertEqual(traced.call("point one"), 0)
        traced.end()
        [pdu] = self.fake.pdus
        self.assertEqual(legacy_wire.encode_pdu(pdu.type, pdu.payload, pdu.pid),
                         bytes.fromhex("0000001c 00007051") + struct.pack(">I", traced.pid) +
                         bytes.fromhex("01040280 bff00000 00000000 6f6e6500"))

    def test_an_aborted_transaction_is_not_sent(self):
        self.trace(self.fake_environment(), "begin a", "abort a", "point b")
        self.assertEqual([data.tag for data in self.fake.data()], ["b"])


@with_each_agent
class Greeting(TraceTestCase):
    """The agent's PDUs to a client of version 1."""

    def test_is_an_ack_that_no_client_takes_for_an_error(self):
        with self.connect() as client:
            self.assertGreater(legacy_wire.read_ack(client), 0)

    def test_is_followed_by_the_kind_of_each_pdu_that_wants_an_ack(self):
        with self.connect() as client:
            legacy_wire.read_ack(client)
            for kind, number in legacy_wire.TYPES.items():
                client.sendall(legacy_wire.encode_data(kind, "silent"))
                client.sendall(legacy_wire.encode_data(kind, "a", wants_ack=True))
                self.assertEqual(legacy_wire.read_ack(client), number)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.start_pmcd().trace_port),
                                        timeout=PATIENCE_S)
