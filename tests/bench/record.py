# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of recording a program, of viewing the recording, and of sending metrics elsewhere."""

import contextlib
import http.client
import http.server
import os
import sys
import tempfile
import threading
import time
import urllib.parse

import recorded
from figures import Figure, median
from pmproxy import Pmproxy
from private_pmcd import completed, wait_until
from running import MIB, cpu_s
from terminal import Terminal

PART = "pcp trace"
OLDER = "older"  # the archive to compare with

# As many values of each tag as the export sends; one percentile stands for its distribution.
SCRAPED = ",".join(f"trace.transact.{name}" for name in (
    "count", "aborts", "vanished", "total_time", "abort_time", "inflight", "p95"))

# Runs a command; prints its elapsed time, processor time and memory. In a process of its own, because a child's memory
# is never less than its parent's was.
USAGE = """
import resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
took = time.monotonic() - begin
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
"""


def measure(tools):
    yield _recorder(tools, *((50, 1) if tools.brief else (10_000, 20)))
    yield _export(tools, *((50, 1) if tools.brief else (10_000, 20)))
    yield from _top(tools, *((50, 1) if tools.brief else (10_000, 20)))
    of_1000, of_10_000 = ((50, 1), (100, 10)) if tools.brief else ((1000, 1), (10_000, 10))
    took, page, _, note = _report(tools, *of_1000)
    yield Figure(PART, "an hour of 1,000 tags reported with its page", "s", took, 10, "10 s", notes=[note])
    yield Figure(PART, "that page", "MB", page / 1e6, 20, "20 MB")
    for name, options in (("added up by a label", ["--by", "zone"]), ("compared with an hour", ["--compare", OLDER])):
        took, _, _, note = _report(tools, *of_1000, options)
        yield Figure(PART, f"an hour of 1,000 tags {name}, with its page", "s", took, 10, "10 s", notes=[note])
    took, page, resident, note = _report(tools, *of_10_000)
    name = "an hour of 10,000 tags, a sample each 10 s"
    yield Figure(PART, name, "s", took, 60, "a minute", notes=[note])
    yield Figure(PART, f"{name}: memory", "MiB", resident / MIB, 1024, "1 GiB")
    yield Figure(PART, f"{name}: the page", "MB", page / 1e6, 20, "20 MB")


def _bytes_in(directory, wanted):
    return sum(entry.stat().st_size for entry in os.scandir(directory) if wanted(entry.name))


def _recorder(tools, tags, seconds):
    tools.progress(f"a recording of {tags:,} tags, {seconds} s")
    with tempfile.TemporaryDirectory(prefix="trace-bench-") as directory:
        folder = os.path.join(directory, "run")
        completed(tools.command, "record", "-q", "-t", "1s", "-o", folder, tools.path("workloads"), "tags", str(tags),
                  str(seconds), check=True, env=os.environ | {"LD_LIBRARY_PATH": tools.libraries[False]})
        samples = recorded.samples(folder)
        written = _bytes_in(folder, lambda name: name != "trace.html")

    def busy(metric):
        return (samples[-1][metric][None] - samples[0][metric][None]) / 1e9 / seconds * 100
    return Figure(
        PART, f"recording {tags:,} tags that all change, a sample a second", "% of a core",
        busy("trace.agent.cpu.main"), 5, "a twentieth of a core",
        notes=[f"Taking the calls in is another {busy('trace.agent.cpu.ingest'):.1f}%; the archive "
               f"grows by {written / seconds / 1e6:.1f} MB a second."])


class _Sink(http.server.BaseHTTPRequestHandler):
    """Accepts all, and reads no message."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def _busy_agent(tools, tags):
    with tools.agent() as pmcd:
        load = tools.start("workloads", "tags", tags, 3600, environment=tools.environment(pmcd))
        try:
            wait_until(lambda: pmcd.value("trace.agent.tags") >= tags, what="the tags")
            yield pmcd
        finally:
            load.kill()
            load.communicate()


def _top(tools, tags, seconds):
    tools.progress(f"top of {tags:,} tags, {seconds} s")
    with _busy_agent(tools, tags) as pmcd, contextlib.closing(
            Terminal([tools.command, "top", "-t", "1s", "-h", pmcd.host(unix=True)])) as screen:
        at = screen.wait_for(rf"(\S+) .* {tags:,} tags")[1]
        began, before = time.monotonic(), cpu_s(screen.pid)
        for _ in range(seconds):
            at = screen.wait_for(rf"\A(?!{at})(\d\S+) ")[1]
        share = (cpu_s(screen.pid) - before) / (time.monotonic() - began) * 100
        redraw_s = median(_redraws(tools, screen))
    yield Figure(PART, f"top of {tags:,} tags, read each second", "% of a core", share, 2, "2% of a core")
    yield Figure(PART, "its screen after a key that sorts", "ms", redraw_s * 1000, 100, "100 ms")


def _redraws(tools, screen):
    """Gives the times from a key to the new title, which is drawn together with the table."""
    column = screen.wait_for(r", by (\S+)")[1]
    for number, _ in enumerate(tools.rounds(20, "a sorted screen")):
        screen.type("<>"[number % 2])
        began = time.monotonic()
        column = screen.wait_for(rf", by (?!{column}\b)(\S+)")[1]
        yield time.monotonic() - began


def _export(tools, tags, seconds):
    """Reads each second, so that there are many readings: the figure is a tenth of their cost."""
    tools.progress(f"an export of {tags:,} tags, {seconds} s")
    with _busy_agent(tools, tags) as pmcd, http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Sink) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            done = completed(sys.executable, "-c", USAGE, tools.command, "export", "--only", "metrics", "-t", "1s",
                             "-T", f"{seconds}s", "-h", pmcd.host(unix=True),
                             "--otlp", f"http://127.0.0.1:{server.server_port}", check=True)
            of_pmproxy = median(_scrapes(tools, pmcd))
        finally:
            server.shutdown()
    took, busy, resident = map(float, done.stdout.split())
    return Figure(
        PART, f"export --otlp of {tags:,} tags every 10 s", "% of a core", busy / took / 10 * 100, of_pmproxy / 4,
        "a quarter of what pmproxy takes for a page of as many values", {"pmproxy": of_pmproxy},
        notes=[f"Memory {resident / MIB:.0f} MiB. {done.stderr.partition(': ')[2].strip()} in {took:.0f} s."])


def _scrapes(tools, pmcd):
    """Gives pmproxy's share of a core for /metrics every 10 s. The connection is kept: see Pmproxy."""
    with Pmproxy(pmcd) as proxy:
        address = urllib.parse.urlsplit(proxy.address("metrics", names=SCRAPED))
        for _ in tools.rounds(5, "a page of pmproxy"):
            before = cpu_s(proxy.pid)
            connection = http.client.HTTPConnection(address.netloc)
            connection.request("GET", f"{address.path}?{address.query}")
            connection.getresponse().read()
            connection.close()
            yield (cpu_s(proxy.pid) - before) / 10 * 100


def _report(tools, tags, interval, options=()):
    """Makes a page of an archive. Gives the seconds, the size of the page, the memory, and a note."""
    seconds = 60 if tools.brief else 3600
    with tempfile.TemporaryDirectory(prefix="trace-bench-") as directory:
        for archive in ["run"] + [OLDER] * (OLDER in options):
            tools.progress(f"an archive of {tags:,} tags, {seconds} s")
            tools.run("hour_archive", os.path.join(directory, archive), tags, seconds, interval)
        page = os.path.join(directory, "page.html")
        tools.progress(f"a report of {tags:,} tags, {seconds} s")
        done = completed(sys.executable, "-c", USAGE, tools.command, "report", "--html", page, "run", *options,
                         check=True, timeout=600, cwd=directory)
        took, busy, resident = map(float, done.stdout.split())
        written = _bytes_in(directory, lambda name: name.startswith("run."))
        note = (f"The archive has {written / 1e6:,.0f} MB; processor time {busy:.1f} s, memory "
                f"{resident / MIB:.0f} MiB.")
        return took, os.path.getsize(page), resident, note
