# SPDX-License-Identifier: LGPL-2.1-or-later
"""pcp trace spans with slower=: slow requests come with their parts in all processes, wherever they were slow."""

import collections
import json
import subprocess

import recorded
from otlp_server import OtlpServer
from private_pmcd import completed, wait_until
from test_spans import SpansTestCase
from trace_test import program

PLACES = range(3)  # of slow_chain.c's processes
OTHERS_END = 3
FRONT_ENDS = 4
SERVICES = {"front", "middle", "back"}


class Slow(SpansTestCase):
    def chain(self, **variables):
        return self.start_process(program("slow_chain"), stdin=subprocess.PIPE, env=self.environment(**variables))

    @staticmethod
    def request(chain, count, every, place, ms):
        """Gives the traces of those that waited."""
        chain.stdin.write(f"{count} {every} {place} {ms}\n")
        chain.stdin.flush()
        return {line.split("-")[1] for line in iter(chain.stdout.readline, "\n")}

    def assert_whole(self, process, traces, slow_tag="checkout"):
        """Reads until all these are shown. Any other was slow, too, on a busy machine."""
        left = set(traces)
        while left:
            trace = json.loads(process.stdout.readline())
            self.assertEqual({span["service"] for span in trace["spans"]}, SERVICES, trace)
            slow = next(span for span in trace["spans"] if span["span"] == trace["slow_span"])
            self.assertEqual(slow["tag"], slow_tag)
            self.assertGreaterEqual(slow["duration_ns"], 50_000_000)
            left.discard(trace["trace"])

    def record(self, host):
        """Gives the folder of a recording that goes on."""
        folder = self.path(f"{host.pmcd_port}.trace")
        self.start_process(recorded.COMMAND, "record", "-q", "-h", host.host(True), "-o", folder,
                           "--spans", "tag=checkout slower=50ms", env=host.pcp_environment())
        recorded.wait_for_samples(f"{folder}/trace", 1)
        return folder

    @staticmethod
    def recorded_of(services, *folders):
        """Gives the recorded traces with parts in these services."""
        archives = [word for folder in folders for word in ("-a", folder)]
        shown = completed(recorded.COMMAND, "spans", "--json", *archives).stdout
        return {trace["trace"] for trace in map(json.loads, shown.splitlines())
                if {span["service"] for span in trace["spans"]} == services}

    def watch(self, chain, *words, **options):
        process = self.start("--json", *words, **options)
        self.request(chain, 1, 1, -1, 0)
        return process

    def test_requests_are_whole_and_no_others_come(self):
        chain = self.chain()
        process = self.watch(chain, "tag=checkout slower=50ms limit=100000/s")
        for place in PLACES:
            self.assert_whole(process, self.request(chain, 2_000, 500, place, 60))
        self.assertEqual(self.interrupt(process)[1], "")

    # Only the last process knows that the request is slow.
    def test_requests_are_whole_if_only_a_part_was_slow(self):
        chain = self.chain(PCP_TRACE_IDS="always")
        process = self.watch(chain, "tag=query slower=50ms")
        self.assert_whole(process, self.request(chain, 10, 10, 2, 60), "query")

    def test_failed_and_wanted_requests_are_whole_and_no_others_come(self):
        for word, how in (("failed", -1), ("wanted", -2)):
            chain = self.chain()
            process = self.watch(chain, word, "limit=100000/s")
            for place in PLACES:
                traces = self.request(chain, 500, 100, place, how)
                for _ in range(5):
                    trace = json.loads(process.stdout.readline())
                    self.assertIn(trace["trace"], traces)
                    traces.remove(trace["trace"])
                    self.assertEqual(len(trace["spans"]), 3, trace)
            self.assertEqual(self.interrupt(process)[1], "")

    def test_requests_open_in_a_killed_process_are_whole_and_no_others_come(self):
        for place, service in enumerate(("front", "middle", "back")):
            chain = self.chain(PCP_TRACE_SOCKET=self.pmcd.path("run/trace.socket"))
            process = self.watch(chain, "died")
            self.request(chain, 50, 51, 0, 0)
            chain.communicate(f"1 1 {place} -3\n")
            trace = json.loads(process.stdout.readline())
            self.assertEqual({span["service"] for span in trace["spans"]}, SERVICES, trace)
            self.assertEqual([span["service"] for span in trace["spans"] if span.get("was_open")], [service], trace)
            self.assertEqual(self.interrupt(process)[1], "")

    def test_requests_are_whole_although_processes_have_ended(self):
        chain = self.chain()
        process = self.watch(chain, "tag=checkout slower=50ms")
        self.assert_whole(process, self.request(chain, 1, 1, OTHERS_END, 60))

    def test_requests_are_whole_although_the_slow_process_ends_at_once(self):
        chain = self.chain()
        process = self.watch(chain, "tag=checkout slower=50ms")
        self.assert_whole(process, self.request(chain, 1, 1, FRONT_ENDS, 60))

    # The last ones are more than processes give to the agent at their end.
    def test_requests_in_a_recording_are_whole(self):
        folder = self.path("run.trace")
        done = recorded.record(folder, program("slow_chain"), options=["--spans", "tag=checkout slower=50ms"],
                               environment=self.environment(), input="500 250 0 60\n500 250 2 60\n5000 5001 0 0\n")
        slow = {line.split("-")[1] for line in done.stdout.split()}
        self.assertEqual(len(slow), 4)
        self.assertLessEqual(slow, self.recorded_of(SERVICES, folder))

    def chain_of_two_hosts(self):
        hosts = [self.pmcd, self.start_pmcd(host_name="jupiter")]
        return hosts, self.chain(middle=hosts[1].path("run/trace.socket"))

    # The monitor tells each host what the other ones want.
    def test_requests_of_several_hosts_are_whole(self):
        hosts, chain = self.chain_of_two_hosts()
        process = self.watch(chain, "tag=checkout slower=50ms", hosts=hosts)
        for place in PLACES:
            self.assert_whole(process, self.request(chain, 500, 250, place, 60))

    def test_requests_in_recordings_of_several_hosts_are_whole_beside_a_monitor_of_them(self):
        hosts, chain = self.chain_of_two_hosts()
        folders = [self.record(host) for host in hosts]
        self.watch(chain, "tag=checkout slower=50ms", hosts=hosts)
        slow = self.request(chain, 20, 10, 0, 60)
        wait_until(lambda: slow <= self.recorded_of(SERVICES, *folders), what="whole requests")
        report = completed(recorded.COMMAND, "report", "--json", *folders).stdout
        self.assertEqual(json.loads(report)["spans"]["slower_s"], 0.05)

    def test_requests_of_several_hosts_are_whole_at_a_server(self):
        hosts, chain = self.chain_of_two_hosts()
        server = self.enterContext(OtlpServer().listen())
        self.start("--otlp", server.url, "--only", "spans", "tag=checkout slower=50ms", word="export", hosts=hosts)
        self.request(chain, 1, 1, -1, 0)
        slow = self.request(chain, 20, 10, 0, 60)

        def whole():
            tags = collections.defaultdict(set)
            for _, span in server.spans():
                tags[span.trace_id.hex()].add(span.name)
            return {trace for trace, its in tags.items() if its == {"checkout", "stock", "query"}}
        wait_until(lambda: slow <= whole(), what="whole requests")

    # The front's host tells the middle's, and this one the last, which the first monitor does not know.
    def test_requests_are_passed_on_by_two_monitors_that_share_a_host(self):
        hosts = [self.pmcd, self.start_pmcd(host_name="jupiter"), self.start_pmcd(host_name="mars")]
        folder = self.record(hosts[2])
        chain = self.chain(middle=hosts[1].path("run/trace.socket"), back=hosts[2].path("run/trace.socket"))
        self.start("tag=checkout slower=50ms", hosts=hosts[:2])
        self.watch(chain, "tag=checkout slower=50ms", hosts=hosts[1:])
        slow = self.request(chain, 20, 10, 0, 60)
        wait_until(lambda: slow <= self.recorded_of({"back"}, folder), what="the last part")
