# SPDX-License-Identifier: LGPL-2.1-or-later
"""Other users of this host, refused programs, and the agent's own rights: no user can pass for another. As root the
strangers are real; otherwise they are this user, who claims to be another."""

import os
import unittest

import batch_wire
import legacy_wire
from own_namespaces import needs
from private_pmcd import PATIENCE_S, wait_until
from trace_test import PERMISSION, TraceTestCase

IS_ROOT = os.getuid() == 0
STRANGER = 65534 if IS_ROOT else os.getuid()
STRANGERS_GROUP = 65534 if IS_ROOT else os.getgid()
only_root = unittest.skipUnless(IS_ROOT, "only root can be somebody else")

# A server on a Unix socket that greets like the agent, and prints a line for each connection: the number of bytes
# received, at most one.
SQUATTER = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.listen()
print("listening", flush=True)
while True:
    client, _ = listener.accept()
    try:
        client.sendall(bytes.fromhex(sys.argv[2]))
        received = len(client.recv(1))
    except ConnectionError:
        received = 0
    print(received, flush=True)
    client.close()
"""


class Squatter(TraceTestCase):
    """On the path where programs look for the agent's socket."""

    def start_squatter(self, path, uid):
        become = ["setpriv", "--reuid", str(uid), "--clear-groups"] if IS_ROOT else []
        greeting = legacy_wire.encode_ack(2).hex()
        squatter = self.start_process(*become, "/usr/bin/python3", "-c", SQUATTER, path, greeting)
        self.assertEqual(squatter.stdout.readline(), "listening\n")
        return squatter

    def bytes_for(self, uid, within=(), **variables):
        """The paths in `variables` are relative to the pmcd's directory."""
        pmcd = self.start_pmcd(["-i", "/nonexistent/trace.socket"])
        pmcd.open_to_everybody()
        squatter = self.start_squatter(pmcd.path("run/trace.socket"), uid)
        environment = self.environment(pmcd, PCP_TRACE_HOST=None, PCP_TRACE_PORT=None,
                                       **{name: pmcd.path(path) for name, path in variables.items()})
        traced = self.start_traced(environment, within=within)
        traced.call("point squatter")
        return int(squatter.stdout.readline())

    def test_of_this_user_is_trusted(self):
        self.assertEqual(self.bytes_for(os.getuid(), PCP_RUN_DIR="run"), 1)

    @only_root
    def test_is_sent_nothing(self):
        self.assertEqual(self.bytes_for(STRANGER, PCP_RUN_DIR="run"), 0)

    @only_root
    def test_on_the_path_that_a_recording_left_is_sent_nothing(self):
        self.assertEqual(self.bytes_for(STRANGER, PCP_TRACE_SOCKET="run/trace.socket"), 0)

    @only_root
    @needs("unshare", "--user")
    def test_is_sent_nothing_where_each_unknown_user_looks_like_this_one(self):
        in_a_namespace = ["unshare", "--user"]
        self.assertEqual(self.bytes_for(STRANGER - 1, in_a_namespace, PCP_TRACE_SOCKET="run/trace.socket"), 0)


class Peer(TraceTestCase):
    def as_stranger(self, action):
        """Runs `action` in a child that is another user, and that then waits to be ended."""
        ready, tell = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                if IS_ROOT:
                    os.setgroups([])
                    os.setgid(STRANGERS_GROUP)
                    os.setuid(STRANGER)
                kept = action()
                os.write(tell, b"done")
                kept.recv(1)
            finally:
                os._exit(0)
        self.addCleanup(os.waitpid, child, 0)
        self.addCleanup(os.kill, child, 9)
        os.close(tell)
        with open(ready, "rb") as file:
            self.assertEqual(file.read(4), b"done")
        return child

    def test_is_who_the_kernel_says_whatever_it_claims(self):
        self.pmcd.open_to_everybody()
        claims = [(b"userid", b"1"), (b"groupid", b"1"), (b"pid", b"1"), (b"zone", b"eu")]
        child = self.as_stranger(lambda: batch_wire.connect(
            self.pmcd.path("run/trace.socket"), PATIENCE_S, pid=1, process=b"liar", labels=claims))
        name = f"{child} liar"
        wait_until(lambda: name in self.pmcd.values("trace.client.recorded"), what="the client")
        labels = self.pmcd.pminfo("-l", "trace.client.recorded")
        for label in (f'"pid":"{child}"', f'"userid":"{STRANGER}"',
                      f'"groupid":"{STRANGERS_GROUP}"', '"zone":"eu"'):
            self.assertIn(label, labels)


class Refused(TraceTestCase):
    """The programs' own library, with a real agent that refuses it."""

    STEPS = {"PCP_TRACE_RECONNECT": "0.05,0.05,0.05,600"}

    def test_programs_learn_why_and_keep_their_distance(self):
        pmcd = self.start_pmcd(["-A", "disallow:127.0.0.1"])
        traced = self.start_traced(self.environment(pmcd, **self.STEPS))
        self.assertEqual(traced.call("point a"), PERMISSION)
        refused = "trace.agent.refused.permission"
        self.assertEqual(pmcd.wait_for(refused, {None: 4}), {None: 4})
        self.assertEqual(traced.call("point a"), PERMISSION)
        self.wait_for_attempts(10, 0.05)
        self.assertEqual(traced.call("point a"), PERMISSION)
        self.assertEqual(pmcd.values(refused), {None: 4})
        wait_until(lambda: pmcd.agent_log().count("refused by the access rules") == 4,
                   what="the reasons in the log")


class Agent(TraceTestCase):
    def test_has_a_socket_as_pmcds_own(self):
        ours, pmcds = os.stat(self.pmcd.path("run/trace.socket")), os.stat(self.pmcd.pmcd_socket())
        self.assertEqual(oct(ours.st_mode & 0o666), oct(pmcds.st_mode & 0o666))
        self.assertEqual((ours.st_uid, ours.st_gid), (pmcds.st_uid, pmcds.st_gid))

    @only_root
    def test_is_in_every_thread_the_user_of_its_option_and_no_more(self):
        pmcd = self.start_pmcd(["-M", "nobody"])
        self.assertEqual(self.trace(self.environment(pmcd), "point a"), [0])
        threads = f"/proc/{pmcd.agent_pid()}/task"
        names = set()
        for thread in os.listdir(threads):
            with open(f"{threads}/{thread}/status", encoding="utf-8") as file:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
            names.add(status["Name"])
            self.assertEqual(status["Uid"].split(), ["65534"] * 4)
            self.assertEqual(status["Gid"].split(), ["65534"] * 4)
            self.assertLessEqual(set(status["Groups"].split()), {"65534"})
            self.assertEqual(int(status["CapEff"], 16), 0)
            self.assertEqual(int(status["CapPrm"], 16), 0)
        self.assertEqual(names, {"pmdatrace", "ingest", "disk"})
