# SPDX-License-Identifier: LGPL-2.1-or-later
"""Very many clients and connections, at once and one after the other. The agent counts all exactly, and its
memory does not grow.

TRACE_CONNECTS in the environment is the number of connects and disconnects (5,000)."""

import os
import resource
import socket

import batch_wire
import legacy_wire
from private_pmcd import PATIENCE_S, wait_until
from trace_test import TraceTestCase

CONNECTS = int(os.environ.get("TRACE_CONNECTS", "5000"))
MANY_BYTES = 32 << 20

# The address sanitizer holds freed memory back, which would look like a leak.
FREED_AT_ONCE = {"ASAN_OPTIONS": "quarantine_size_mb=1:thread_local_quarantine_size_kb=64"}


class CrowdTestCase(TraceTestCase):
    def setUp(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.most_clients = hard // 2  # leaves room for the agent, which has the same limit
        self.pmcd = self.start_pmcd(environment=FREED_AT_ONCE)
        self.path = self.pmcd.path("run/trace.socket")

    def by_tcp(self):
        return socket.create_connection(("127.0.0.1", self.pmcd.trace_port), PATIENCE_S)

    def by_unix_socket(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(PATIENCE_S)
        client.connect(self.path)
        return client

    def session(self):
        return batch_wire.connect(self.path, PATIENCE_S)

    def agent_descriptors(self):
        return len(os.listdir(f"/proc/{self.pmcd.agent_pid()}/fd"))

    def resident(self):
        return self.pmcd.value("trace.agent.memory.resident")

    def wait_until_alone(self):
        wait_until(lambda: self.pmcd.value("trace.agent.clients") == 0, what="clients to leave")

    def wait_for_descriptors(self, before):
        """Waits until the agent has closed its clients' descriptors, and the file that it may be saving."""
        self.wait_until_alone()
        wait_until(lambda: self.agent_descriptors() == before, what="descriptors to be closed")


class Clients(CrowdTestCase):
    def test_by_the_thousand_are_counted_exactly(self):
        before = self.agent_descriptors()
        number = min(5000, self.most_clients)
        stock = [self.enterContext(self.by_tcp()) for _ in range(number // 2)]
        ours = [self.enterContext(self.session()) for _ in range(number // 2, number)]
        for client in stock:
            self.assertGreater(legacy_wire.read_ack(client), 0)
        self.assertEqual(self.pmcd.value("trace.agent.clients"), number)

        for sequence in range(1, 4):
            for place, client in enumerate(stock):
                client.sendall(legacy_wire.encode_data("observe", "stock", place, wants_ack=True))
            for place, client in enumerate(ours):
                tags = batch_wire.encode_tags([b"ours", b"own %d" % (place % 100)])
                client.sendall(tags + batch_wire.encode_points(sequence, {1: place + 1, 2: 1}))
            for client in stock:
                self.assertEqual(legacy_wire.read_ack(client), legacy_wire.TYPES["observe"])
            for client in ours:
                self.assertEqual(legacy_wire.read_pdu(client).type, batch_wire.BATCHACK)

        self.assertEqual(self.pmcd.values("trace.observe.count"), {"stock": 3 * len(stock)})
        self.assertEqual(self.pmcd.values("trace.observe.sum"),
                         {"stock": 3 * sum(range(len(stock)))})
        points = self.pmcd.values("trace.point.count")
        self.assertEqual(points["ours"], 3 * sum(range(len(ours) + 1)))
        self.assertEqual(sum(points.values()), points["ours"] + 3 * len(ours))
        self.assertEqual(len(points), 1 + min(100, len(ours)))

        for client in stock + ours:
            client.close()
        self.wait_for_descriptors(before)


class Connections(CrowdTestCase):
    def come_and_go(self, times):
        """Connects and disconnects in each possible way."""
        data = legacy_wire.encode_data("point", "passing", wants_ack=True)
        for turn in range(times):
            client = self.by_tcp() if turn % 10 == 0 else self.by_unix_socket()
            if turn % 5 == 0:
                legacy_wire.read_ack(client)
                client.sendall(data)
                legacy_wire.read_ack(client)
                self.counted += 1
            elif turn % 5 == 1:
                client.sendall(data[:17])
            elif turn % 5 == 2:
                client.sendall(batch_wire.encode_hello(turn.to_bytes(16, "big")))
                client.sendall(legacy_wire.encode_pdu(batch_wire.BYE, b""))
            elif turn % 5 == 3:
                client.sendall(b"nonsense, and enough of it")
            client.close()

    def test_that_come_and_go_leave_nothing_behind(self):
        self.counted = 0
        before = self.agent_descriptors()
        self.come_and_go(CONNECTS // 5)
        self.wait_until_alone()
        resident = self.resident()
        self.come_and_go(CONNECTS - CONNECTS // 5)
        self.wait_for_descriptors(before)
        grown = self.resident() - resident
        print(f"{self.id()}: {CONNECTS} connects, the agent has grown by {grown} bytes")
        self.assertLess(grown, MANY_BYTES)
        self.assertEqual(self.pmcd.values("trace.point.count"), {"passing": self.counted})
