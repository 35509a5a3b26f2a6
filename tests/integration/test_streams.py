# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent against peers that send raw bytes: any split, speed, number and nonsense."""

import resource
import socket
import struct

import legacy_wire
from private_pmcd import PATIENCE_S, wait_until
from trace_test import TraceTestCase

HELLO, WELCOME, TAGS, BATCH, BATCHACK, BYE = range(0x7060, 0x7066)

ONE_OF_EACH = b"".join(legacy_wire.encode_data(kind, "one", value) for kind, value in
                       (("transact", 0.5), ("point", -1), ("observe", 2.5), ("counter", 7)))

MALFORMED = {
    "a length of zero": struct.pack(">III", 0, legacy_wire.DATA, 1),
    "a length below the header's": struct.pack(">III", 11, legacy_wire.DATA, 1),
    "a length of two gigabytes": struct.pack(">III", 0x80000000, legacy_wire.DATA, 1),
    "an unknown type": legacy_wire.encode_pdu(0x7777, b"1234"),
    "text": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "data without a payload": legacy_wire.encode_pdu(legacy_wire.DATA, b""),
    "data of version 9": legacy_wire.encode_pdu(
        legacy_wire.DATA, struct.pack(">BBBBd", 9, 4, 2, 0, -1) + b"one\0"),
    "data of kind 9": legacy_wire.encode_pdu(
        legacy_wire.DATA, struct.pack(">BBBBd", 1, 4, 9, 0, -1) + b"one\0"),
    "an empty tag": legacy_wire.encode_pdu(
        legacy_wire.DATA, struct.pack(">BBBBd", 1, 1, 2, 0, -1) + b"\0~~~"),
    "a tag without its NUL": legacy_wire.encode_pdu(
        legacy_wire.DATA, struct.pack(">BBBBd", 1, 4, 2, 0, -1) + b"four"),
    "a tag longer than the payload": legacy_wire.encode_pdu(
        legacy_wire.DATA, struct.pack(">BBBBd", 1, 200, 2, 0, -1) + b"one\0"),
    "a batch before the hello": legacy_wire.encode_pdu(BATCH, b"\x08\x01"),
    "a hello that is no message": legacy_wire.encode_pdu(HELLO, b"\xff" * 40),
    "a hello without a session": legacy_wire.encode_pdu(HELLO, b""),
}


class StreamTestCase(TraceTestCase):
    def setUp(self):
        self.pmcd = self.start_pmcd()

    def connect(self):
        """Connects and reads the greeting."""
        client = socket.create_connection(("127.0.0.1", self.pmcd.trace_port), timeout=PATIENCE_S)
        self.addCleanup(client.close)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.assertGreater(legacy_wire.read_ack(client), 0)
        return client

    def point(self, client, tag):
        client.sendall(legacy_wire.encode_data("point", tag, wants_ack=True))
        self.assertEqual(legacy_wire.read_ack(client), legacy_wire.TYPES["point"])

    def assert_one_of_each(self, times=1):
        for kind in ("transact", "point", "observe", "counter"):
            self.assert_values(self.pmcd, f"trace.{kind}.count", {"one": times})
        self.assertEqual(self.pmcd.values("trace.transact.total_time"), {"one": 0.5 * times})
        self.assertEqual(self.pmcd.values("trace.observe.value"), {"one": 2.5})
        self.assertEqual(self.pmcd.values("trace.counter.value"), {"one": 7})


class Split(StreamTestCase):
    def test_after_every_byte(self):
        client = self.connect()
        for position in range(len(ONE_OF_EACH)):
            client.sendall(ONE_OF_EACH[position:position + 1])
        self.assert_one_of_each()

    def test_in_two_at_any_position(self):
        for position in range(1, len(ONE_OF_EACH)):
            client = self.connect()
            client.sendall(ONE_OF_EACH[:position])
            client.sendall(ONE_OF_EACH[position:])
            client.close()
        self.assert_one_of_each(times=len(ONE_OF_EACH) - 1)

    def test_nowhere_in_a_stream_of_thousands(self):
        self.connect().sendall(ONE_OF_EACH * 5000)
        self.assert_one_of_each(times=5000)

    def test_by_a_connection_that_ends_in_the_middle_keeps_what_was_whole(self):
        client = self.connect()
        client.sendall(ONE_OF_EACH + ONE_OF_EACH[:20])
        client.close()
        self.assert_one_of_each()


class LongTags(StreamTestCase):
    def test_of_125_to_254_bytes_arrive_from_a_raw_client(self):
        client = self.connect()
        for length in range(120, 255):
            self.point(client, "t" * length)
        self.assertEqual(self.pmcd.values("trace.point.count"),
                         {"t" * length: 1 for length in range(120, 255)})

    def test_of_125_to_254_bytes_arrive_from_our_library(self):
        lengths = range(120, 255)
        returned = self.trace(self.environment(self.pmcd), *(f"obs {n} {'t' * n}" for n in lengths))
        self.assertEqual(set(returned), {0})
        self.assertEqual(self.pmcd.values("trace.observe.value"), {"t" * n: n for n in lengths})


class Nonsense(StreamTestCase):
    def ended(self, client):
        """Waits until the agent closes this connection; gives False if it does not."""
        try:
            while client.recv(4096):
                pass
        except ConnectionError:
            pass
        except TimeoutError:
            return False
        return True

    def test_costs_its_sender_the_connection_and_nobody_else_anything(self):
        good = self.connect()
        for count, (what, nonsense) in enumerate(MALFORMED.items(), 1):
            with self.subTest(what):
                bad = self.connect()
                bad.settimeout(5)
                bad.sendall(nonsense)
                self.assertTrue(self.ended(bad), f"the agent keeps a connection after {what}")
                self.point(good, "good")
                self.assertEqual(self.pmcd.values("trace.point.count"), {"good": count})

    def test_after_good_data_does_not_undo_it(self):
        client = self.connect()
        self.point(client, "a")
        client.sendall(MALFORMED["text"])
        self.assertTrue(self.ended(client))
        self.assertEqual(self.pmcd.values("trace.point.count"), {"a": 1})

    def test_is_explained_in_the_log(self):
        client = self.connect()
        client.sendall(MALFORMED["a length of two gigabytes"])
        self.assertTrue(self.ended(client))
        self.pmcd.wait_for_log("client 127.0.0.1")

    def test_halves_of_pdus_delay_nobody(self):
        halves = [self.connect() for _ in range(50)]
        for client in halves:
            client.sendall(ONE_OF_EACH[:17])
        self.point(self.connect(), "a")
        self.assertEqual(self.pmcd.values("trace.point.count"), {"a": 1})


class Crowd(TraceTestCase):
    CLIENTS = 1100

    def test_of_more_than_1024_clients_is_served(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        pmcd = self.start_pmcd()
        clients = []
        for _ in range(self.CLIENTS):
            client = socket.create_connection(("127.0.0.1", pmcd.trace_port), timeout=PATIENCE_S)
            self.addCleanup(client.close)
            clients.append(client)
        for client in clients:
            self.assertGreater(legacy_wire.read_ack(client), 0)
        for client in clients:
            client.sendall(legacy_wire.encode_data("point", "crowd", wants_ack=True))
        for client in clients:
            self.assertEqual(legacy_wire.read_ack(client), 2)
        self.assertEqual(pmcd.values("trace.point.count"), {"crowd": self.CLIENTS})
        self.assertEqual(self.trace(self.environment(pmcd), "point crowd"), [0])
        wait_until(lambda: pmcd.value("trace.point.count", "crowd") == self.CLIENTS + 1,
                   what="one more")
