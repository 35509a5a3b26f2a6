# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs what is measured: the benchmark's programs, agents, LTTng's sessions, and a monitor."""

import contextlib
import ctypes
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import uuid

from event_monitor import PcpError, Result, ValueSet, libpcp
from figures import medians
from legacy_wire import encode_data, read_ack
from private_pmcd import STOCK_AGENT, STOCK_NAMESPACE, PrivatePmcd, completed, wait_until

MIB = 1 << 20
TYPES = ("transact", "point", "observe", "counter")
EVENTS = "pcp_trace_bench:*"  # of peers.cpp, for LTTng
STOCK_CHUNK_BYTES = 1024  # the stock agent's read size


class Tools:
    """The build's programs, and a way to print progress. `brief`: everything once, to see that it works."""

    def __init__(self, build, root, brief):
        self.build = build
        self.root = root
        self.brief = brief
        self.command = str(build / "pmda/command/pcp-trace")
        self.libraries = {False: str(build / "libtrace/src"), True: "/usr/lib"}  # by: is it the stock one?
        self.part = ""
        self._agents = {False: {"agent": str(build / "pmda/agent/pmdatrace"), "namespace": str(root / "pmda/root")},
                        True: {"agent": STOCK_AGENT, "namespace": STOCK_NAMESPACE}}
        self._started = time.monotonic()

    def path(self, program):
        return str(self.build / "tests/bench" / program)

    def progress(self, text):
        elapsed = int(time.monotonic() - self._started)
        line = f"{elapsed // 60}:{elapsed % 60:02}  {self.part}: {text}"
        if sys.stderr.isatty():
            print(f"\r\033[K    {line:.90}", end="", file=sys.stderr, flush=True)
        else:
            print(f"    {line}", file=sys.stderr, flush=True)

    def end_progress(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def rounds(self, count, *texts):
        """Gives each of the texts in each round: the rounds alternate, because the machine's load changes."""
        count = 1 if self.brief else count
        for number in range(1, count + 1):
            for text in texts:
                self.progress(f"{text}, round {number} of {count}")
                yield text

    def agent(self, stock=False, options=()):
        return PrivatePmcd(**self._agents[stock], options=options)

    def environment(self, pmcd, stock=False, **more):
        """That of a traced program."""
        return pmcd.environment() | {"LD_LIBRARY_PATH": self.libraries[stock]} | more

    def run(self, program, *arguments, environment=None):
        """Gives what the program prints."""
        environment = dict(os.environ if environment is None else environment)
        if self.brief:
            environment["BENCH_BRIEF"] = "1"
        return completed(self.path(program), *map(str, arguments), check=True, env=environment,
                         stdin=subprocess.DEVNULL, timeout=600).stdout

    def google(self, program, pattern="", environment=None):
        """Gives a Google Benchmark program's measurements: name -> its row of the report. A name ends with the
        number of threads, if there are several."""
        report = self.run(program, "--benchmark_format=json", f"--benchmark_filter={pattern}", environment=environment)
        return {re.sub("/(iterations|min_time|manual_time)[^/]*|/threads:1$", "", row["name"]): row
                for row in json.loads(report)["benchmarks"]}

    def google_medians(self, rounds, text, program):
        """One disturbed measurement spoils a maximum: so the median of each number over the rounds."""
        return medians([self.google(program) for _ in self.rounds(rounds, text)])

    def numbers(self, program, *arguments):
        """Runs a load and gives what it prints, a name and a number on each line."""
        return numbers(self.run(program, *arguments))

    def start(self, program, *arguments, environment=None):
        return subprocess.Popen([self.path(program), *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                                env=environment)


def numbers(text):
    return {name: float(value) if "." in value else int(value) for name, value in map(str.split, text.splitlines())}


def trace_socket(pmcd):
    return pmcd.path("run/trace.socket")


# The stock clients' side --------------------------------------------------------------------------

def fill(pmcd, count, name="tag{}", kinds=TYPES):
    """Makes `count` tags, the kinds in turn, as a stock client would: both agents accept them."""
    with socket.create_connection(("127.0.0.1", pmcd.trace_port)) as connection:
        read_ack(connection)

        def send(chunk):
            *pdus, last = chunk
            connection.sendall(b"".join(encode_data(*pdu) for pdu in pdus) + encode_data(*last, wants_ack=True))
            read_ack(connection)

        chunk = []
        for number in range(count):
            pdu = (kinds[number % len(kinds)], name.format(number // len(kinds)), 0.004)
            if sum(28 + len(each[1]) for each in chunk + [pdu]) + 256 > STOCK_CHUNK_BYTES:
                send(chunk)
                chunk = []
            chunk.append(pdu)
        send(chunk)


def cpu_s(pid):
    """CPU time of all threads of a process, in seconds."""
    spent = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            spent += int(file.read().split()[0])
    return spent / 1e9


# LTTng --------------------------------------------------------------------------------------------

def _lttng(*arguments, check=True):
    return completed("lttng", "--no-sessiond", *arguments, check=check, stdin=subprocess.DEVNULL)


def _lttng_answers():
    return _lttng("list", check=False).returncode == 0


@contextlib.contextmanager
def _lttng_daemon():
    """The running session daemon, or one of our own while this lasts."""
    if _lttng_answers():
        yield
        return
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(_lttng_answers, what="LTTng's session daemon")
        yield
    finally:
        daemon.terminate()
        daemon.wait()


@contextlib.contextmanager
def peers_environment():
    """That of peers.cpp, while an LTTng session records its events into a temporary directory, as users would."""
    name = f"pcp-trace-bench-{uuid.uuid4().hex}"
    with tempfile.TemporaryDirectory(prefix="trace-bench-") as directory, _lttng_daemon():
        os.mkdir(os.path.join(directory, "mmv"))
        _lttng("create", name, f"--output={os.path.join(directory, 'trace')}")
        try:
            _lttng("enable-event", "--userspace", f"--session={name}", EVENTS)
            _lttng("start", name)
            # LTTng's library waits three seconds for its daemon: too short on a busy machine.
            yield os.environ | {"PCP_TMP_DIR": directory, "LTTNG_UST_REGISTER_TIMEOUT": "60000"}
        finally:
            _lttng("destroy", name)


def run_peers(tools, environment, pattern=""):
    rows = tools.google("peers", pattern and f"{pattern}|lttng_enabled", environment)
    if not rows["lttng_enabled"]["enabled"]:
        raise RuntimeError("LTTng does not record the events")
    return rows


# A monitor ----------------------------------------------------------------------------------------

os.environ["PMCD_REQUEST_TIMEOUT"] = "60"  # for pmcd beside the stock agent
libc = ctypes.CDLL(None)
libc.free.argtypes = [ctypes.c_void_p]


def _check(status):
    if status < 0:
        raise PcpError(libpcp.pmErrStr(status).decode())
    return status


def _look_up(name):
    pmid = ctypes.c_uint()
    _check(libpcp.pmLookupName(1, ctypes.byref(ctypes.c_char_p(name)), ctypes.byref(pmid)))
    return pmid.value


def _fetch_of(nodes):
    """Gives a function that fetches all metrics below the nodes, and gives the seconds that it took."""
    names = []
    note = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(names.append)
    for node in nodes.split(","):
        _check(libpcp.pmTraversePMNS(node.encode(), note))
    pmids = (ctypes.c_uint * len(names))(*map(_look_up, names))

    def fetch():
        result = ctypes.POINTER(Result)()
        begin = time.perf_counter()
        _check(libpcp.pmFetch(len(pmids), pmids, ctypes.byref(result)))
        took = time.perf_counter() - begin
        sets = ctypes.cast(ctypes.addressof(result.contents) + Result.first.offset,
                           ctypes.POINTER(ctypes.POINTER(ValueSet)))
        for place in range(len(pmids)):
            _check(sets[place].contents.count)
        begin = time.perf_counter()
        libpcp.pmFreeResult(result)
        return took + time.perf_counter() - begin
    return fetch


def _names_of(metric):
    """The same for the names of the metric's instances."""
    description = (ctypes.c_uint * 8)()  # the third member is the domain
    _check(libpcp.pmLookupDesc(_look_up(metric.encode()), description))

    def ask():
        memories = ctypes.c_void_p(), ctypes.c_void_p()  # numbers and names
        begin = time.perf_counter()
        _check(libpcp.pmGetInDom(description[2], *map(ctypes.byref, memories)))
        took = time.perf_counter() - begin
        for memory in memories:
            libc.free(memory)
        return took
    return ask


def waiting_times(pmcd, *groups, rounds=1_000_000, seconds=60):
    """Asks for the groups in turn, on one connection to pmcd. A group is a node of the name space, whose metrics are
    fetched in one request, or several nodes with commas between; or "indom:" and a metric, for the names of its
    instances. Gives the times of each group in microseconds, without a first round, with cold caches; with no rounds,
    that one."""
    context = _check(libpcp.pmNewContext(1, pmcd.host().encode()))
    try:
        asks = [_names_of(group.removeprefix("indom:")) if group.startswith("indom:") else _fetch_of(group)
                for group in groups]
        end = time.monotonic() + seconds
        times = [[1e6 * ask() for ask in asks]]
        while len(times) <= rounds and (len(times) == 1 or time.monotonic() < end):
            times.append([1e6 * ask() for ask in asks])
    finally:
        libpcp.pmDestroyContext(context)
    return [list(column) for column in zip(*(times[1:] or times))]
