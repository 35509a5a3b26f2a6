# SPDX-License-Identifier: LGPL-2.1-or-later
"""The recording of demos/epoll_server.cpp has exactly what the server has written into its own log: an event loop, a pool
and another process handle each request, and each is one whole trace."""

import collections
import contextlib
import json
import os
import pathlib
import re
import signal
import tempfile

import recorded
from private_pmcd import PATIENCE_S, completed, wait_until
from trace_test import OUR_LIBRARY, TraceTestCase, library_environment

REQUESTS = 1200
Entry = collections.namedtuple("Entry", "id parent route status spans failure")
NOT_IN_TIME, GONE = "no price in 30 ms", "the client has gone"
STEPS = {"search": {"search", "index-lock", "search-index"}, "price": {"ask-price", "find-price"}, "other": set()}
PARENTS = {"index-lock": "search", "search-index": "search", "find-price": "ask-price"}  # of others: the request


def tag_of(entry):
    """A request without a reply has no status."""
    return f"request{{route={entry.route}" + (f";status={entry.status}}}" if entry.status != "0" else "}")


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def shown(*arguments):
    return completed(recorded.COMMAND, *arguments, check=True, timeout=4 * PATIENCE_S).stdout


class Server(TraceTestCase):
    @classmethod
    def setUpClass(cls):
        directory = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="trace-"))
        folder, log = os.path.join(directory, "run.trace"), os.path.join(directory, "log")
        done = recorded.record(folder, os.environ["TRACE_SERVER"], str(REQUESTS), log,
                               options=["--spans", "share=100%"], environment=library_environment(OUR_LIBRARY))
        assert (done.returncode, done.stderr) == (0, ""), done
        cls.clients = int(re.fullmatch(rf"served {REQUESTS} requests of (\d+) clients\n", done.stdout)[1])
        with open(log, encoding="utf-8") as file:
            entries = [Entry(*line.rstrip("\n").split("\t")) for line in file]
        cls.log = {int(entry.id): entry for entry in entries}
        cls.report = json.loads(shown("report", "--json", folder))
        traces = [json.loads(line) for line in shown("spans", "-a", folder, "--json").splitlines()]
        # An entry of the log, its trace, the request and its steps.
        cls.accepts, cls.requests = [], []
        for trace in traces:
            root, *steps = trace["spans"]
            if root["tag"] == "accept-client":
                cls.accepts.append(trace)
            else:
                cls.requests.append((cls.log[root["attributes"]["id"]], trace, root, steps))

    def counted(self):
        """Calls and failures."""
        return {tag["name"]: (tag["calls"], tag["failed"]) for tag in self.report["tags"] if tag["calls"]}

    def test_has_had_all_kinds_of_requests(self):
        self.assertEqual(sorted(self.log), list(range(1, REQUESTS + 1)))
        kinds = {(entry.route, entry.status, entry.failure) for entry in self.log.values()}
        self.assertLessEqual({("search", "200", ""), ("search", "404", ""), ("search", "0", GONE), ("price", "200", ""),
                              ("price", "504", NOT_IN_TIME), ("other", "404", "")}, kinds)

    def test_requests_are_counted_by_route_and_status(self):
        tags = collections.Counter(map(tag_of, self.log.values()))
        failed = collections.Counter(tag_of(entry) for entry in self.log.values() if entry.failure)
        self.assertEqual({tag: counts for tag, counts in self.counted().items() if tag.startswith("request")},
                         {tag: (count, failed[tag]) for tag, count in tags.items()})

    def test_steps_are_counted(self):
        routes = collections.Counter(entry.route for entry in self.log.values())
        late = sum(entry.failure == NOT_IN_TIME for entry in self.log.values())
        expected = {step: routes[route] for route, steps in STEPS.items() for step in steps}
        expected |= {"accept-client": self.clients, "pool-wait": REQUESTS, "write-reply": REQUESTS}
        self.assertEqual({tag: counts for tag, counts in self.counted().items() if not tag.startswith("request")},
                         {tag: (count, late if tag == "ask-price" else 0) for tag, count in expected.items()})

    def test_no_span_is_missing(self):
        spans = self.report["spans"]
        self.assertEqual((spans["traces"], spans["spans"], spans["missed"], spans["has_gap"]),
                         (REQUESTS + self.clients, sum(int(entry.spans) for entry in self.log.values()) + self.clients,
                          0, False))

    def test_each_request_has_one_trace_that_began_where_its_client_says(self):
        self.assertEqual(sorted(int(entry.id) for entry, *_ in self.requests), sorted(self.log))
        for entry, trace, request, _ in self.requests:
            self.assertEqual((request["tag"], request["aborted"], request.get("reason", "")),
                             (tag_of(entry), entry.failure != "", entry.failure), entry)
            self.assertEqual(trace["has_root"], entry.parent == "", entry)
            if entry.parent:
                self.assertEqual((trace["trace"], request["parent"]), tuple(entry.parent.split("-")[1:3]), entry)

    def test_each_trace_is_whole(self):
        for entry, trace, request, steps in self.requests:
            self.assertEqual((trace["is_torn"], trace["is_late"], trace["left_out"]), (False, False, 0), entry)
            tags = {span["span"]: span["tag"] for span in trace["spans"]}
            self.assertEqual(len(tags), int(entry.spans), entry)
            self.assertEqual({step["tag"] for step in steps}, {"pool-wait", "write-reply"} | STEPS[entry.route], entry)
            for step in steps:
                reason = entry.failure if step["tag"] == "ask-price" and entry.failure == NOT_IN_TIME else ""
                self.assertEqual((step["aborted"], step.get("reason", "")), (reason != "", reason), entry)
                self.assertEqual(tags[step["parent"]], PARENTS.get(step["tag"], request["tag"]), entry)

    def test_the_backend_ends_with_a_killed_server(self):
        server = self.start_process(os.environ["TRACE_SERVER"], "100000", env=library_environment(OUR_LIBRARY))
        children = f"/proc/{server.pid}/task/{server.pid}/children"

        def backend():  # once it has threads
            for pid in pathlib.Path(children).read_text(encoding="utf-8").split():
                if len(os.listdir(f"/proc/{pid}/task")) > 1:
                    return int(pid)
            return None
        wait_until(backend, what="the backend")
        self.addCleanup(kill, backend())
        server.kill()
        server.communicate(timeout=PATIENCE_S)  # the backend has the same output

    def test_no_trace_has_a_part_of_another_request(self):
        for entry, trace, *_ in self.requests:
            self.assertEqual({span.get("attributes", {}).get("id") for span in trace["spans"]}, {int(entry.id)})
        self.assertEqual([len(trace["spans"]) for trace in self.accepts], [1] * self.clients)
