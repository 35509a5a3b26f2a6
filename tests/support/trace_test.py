# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the end-to-end tests: the two libraries and two agents, and programs that trace.

CMake gives the paths of what was built in TRACE_LIBRARY, TRACE_AGENT, TRACE_NAMESPACE,
TRACE_PMTRACE and TRACE_PROGRAMS (a directory), and that of PCP's library in TRACE_STOCK_LIBRARY.
"""

import collections
import contextlib
import functools
import os
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import private_pmcd
from fake_agent import FakeAgent
from private_pmcd import PATIENCE_S, PrivatePmcd, completed

Agent = collections.namedtuple("Agent", "path namespace")

STOCK_LIBRARY = os.environ["TRACE_STOCK_LIBRARY"]
OUR_LIBRARY = os.environ["TRACE_LIBRARY"]
STOCK_AGENT = Agent(private_pmcd.STOCK_AGENT, private_pmcd.STOCK_NAMESPACE)
OUR_AGENT = Agent(os.environ["TRACE_AGENT"], os.environ["TRACE_NAMESPACE"])
STOCK_PMTRACE = "/usr/bin/pmtrace"
OUR_PMTRACE = os.environ["TRACE_PMTRACE"]

PERMISSION = -12010

LONGEST_TAG = "t" * 254

# A test that gets SIGTERM cleans up first.
signal.signal(signal.SIGTERM, signal.default_int_handler)


def program(name):
    """Gives the path of a helper program that was built beside the tests."""
    return os.path.join(os.environ["TRACE_PROGRAMS"], name)


def library_environment(library, **variables):
    """Gives an environment in which programs load this libpcp_trace.so.2, with no variables of the library
    but `variables`."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("PCP_TRACE_", "TRACEPARENT", "TRACESTATE"))}
    environment |= {"LD_LIBRARY_PATH": os.path.dirname(library), "PCP_TRACE_LINGER": f"{PATIENCE_S:g}"}
    return environment | {name: str(value) for name, value in variables.items()}


def has_machines_processes():
    """Says whether this process is in the machine's namespace of process ids, and in none of its own, as a container's."""
    return os.stat("/proc/self/ns/pid").st_ino == 0xEFFFFFFC


def named_in_mmv(pid):
    """Gives a process's name in files of mmv(5)."""
    return str(pid) if has_machines_processes() else f"{pid}@{os.stat('/proc/self/ns/pid').st_ino}"


def without_leaks(environment):
    """Gives an environment without the leak sanitizer: it reports false leaks in the forked children of programs with
    threads, and what PCP's library never frees."""
    sanitizer = os.environ.get("ASAN_OPTIONS", "")
    return environment | {"ASAN_OPTIONS": f"{sanitizer}:detect_leaks=0"}


def _variants(**variants):
    """Makes a class decorator that replaces a class by one subclass for each variant."""
    def decorate(behaviour):
        module = sys.modules[behaviour.__module__]
        for variant, attributes in variants.items():
            name = behaviour.__name__ + variant
            attributes = dict(attributes, __module__=behaviour.__module__)
            setattr(module, name, type(name, (behaviour,), attributes))
    return decorate


# Decorators for tests that must pass with the stock half and with ours.
with_each_library = _variants(
    WithStockLibrary={"library": STOCK_LIBRARY, "agent": STOCK_AGENT},
    WithOurLibrary={"library": OUR_LIBRARY, "agent": STOCK_AGENT})
with_each_agent = _variants(
    WithStockAgent={"library": STOCK_LIBRARY, "agent": STOCK_AGENT},
    WithOurAgent={"library": STOCK_LIBRARY, "agent": OUR_AGENT})
with_each_pair = _variants(
    WithStockLibraryAndStockAgent={"library": STOCK_LIBRARY, "agent": STOCK_AGENT},
    WithStockLibraryAndOurAgent={"library": STOCK_LIBRARY, "agent": OUR_AGENT},
    WithOurLibraryAndStockAgent={"library": OUR_LIBRARY, "agent": STOCK_AGENT},
    WithOurLibraryAndOurAgent={"library": OUR_LIBRARY, "agent": OUR_AGENT})


def end_well(process, patience=PATIENCE_S):
    """Ends a program by the end of its input, and waits for it. Gives its output and standard error.
    AssertionError if its exit status is not 0."""
    output, complaints = process.communicate(timeout=patience)
    assert process.returncode == 0, f"{process.args} ended with {process.returncode}: {complaints}"
    return output, complaints


def kill_or_find_ended_well(process):
    """For the end of a test, also of one that failed."""
    if process.returncode is not None:  # it has been waited for
        return
    status = process.poll()
    process.kill()
    complaints = process.communicate()[1]
    assert status in (None, 0), f"{process.args} ended with {status}: {complaints}"


@contextlib.contextmanager
def everybodys_folder():
    """Gives a folder for gcov's counts of another user's process, which cannot write into the build directory."""
    with tempfile.TemporaryDirectory(prefix="trace-") as folder:
        os.chmod(folder, 0o777)
        yield folder


class Traced:
    """A program that makes one call after the other, as a test tells it; usually traced.c."""

    def __init__(self, environment, name="traced", within=(), words=()):
        """`within`: a command that becomes the program, as unshare does, or runs it. `words`: its arguments."""
        self.process = subprocess.Popen([*within, program(name), *words], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, bufsize=1)
        self.pid = self.process.pid

    def call(self, line):
        """Makes one call and gives what it returned."""
        return int(self.ask(line))

    def ask(self, line):
        """The same for a call that gives a text."""
        self.process.stdin.write(line + "\n")
        return self.process.stdout.readline().removesuffix("\n")

    def do(self, *lines):
        """Makes calls that must return 0."""
        for line in lines:
            returned = self.call(line)
            assert returned == 0, f"{line}: {returned}"

    def begin_end(self):
        """Lets the program end normally, and does not wait for that."""
        self.process.stdin.close()
        self.process.stdin = None

    def has_ended(self):
        return self.process.poll() is not None

    def end(self):
        """Lets the program end normally. Gives its standard error."""
        return end_well(self.process, 4 * PATIENCE_S)[1]

    def kill(self):
        """Kills it. If it has ended already, it must have ended well."""
        kill_or_find_ended_well(self.process)


class SteppedClock:
    """Steps the monotonic clock of programs that have its environment."""

    def __init__(self, directory):
        self._path = os.path.join(directory, "clock")
        self.environment = {"LD_PRELOAD": f"{program('stepped_clock.so')} {program('bad_machine.so')}",
                            "NO_COUNTER": "1", "STEPPED_CLOCK": self._path}
        self.step_to(0)

    def step_to(self, seconds):
        """Sets it so many seconds ahead of the real clock."""
        with open(self._path, "r+b" if os.path.exists(self._path) else "wb", buffering=0) as file:
            file.write(struct.pack("l", seconds))


class TraceTestCase(unittest.TestCase):
    """A test that may start private pmcds and traced programs; none is left behind."""

    maxDiff = None
    library = OUR_LIBRARY
    agent = OUR_AGENT
    agent_options = ()

    def run(self, result=None):
        self._result = result
        return super().run(result)

    @functools.cached_property
    def pmcd(self):
        """The pmcd of a test that needs only one: it starts where the test first mentions it."""
        return self.start_pmcd(self.agent_options)

    @functools.cached_property
    def directory(self):
        """A directory for the test's files, which goes with them at its end."""
        return self.enterContext(tempfile.TemporaryDirectory(prefix="trace-"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def start_pmcd(self, options=(), agent=None, environment=None, host_name=None, mmv=False):
        """Starts a pmcd with this test's agent, or another; shows its logs if the test fails."""
        path, namespace = agent or self.agent
        pmcd = PrivatePmcd(path, options, namespace, environment, host_name, mmv)
        pmcd.start()
        self.addCleanup(self._stop, pmcd)
        return pmcd

    def _stop(self, pmcd):
        if any(test is self for test, _ in self._result.failures + self._result.errors):
            print(f"=== {self.id()}\n{pmcd.logs()}", flush=True)
        pmcd.stop()

    def environment(self, pmcd=None, **variables):
        """Gives the environment of a program with this test's library and the agent of that pmcd, or of the test's."""
        return (pmcd or self.pmcd).environment(self.library, **variables)

    def nobody(self, **variables):
        """Gives the environment of a program whose agent is not there."""
        port = private_pmcd.ReservedPort()
        self.addCleanup(port.close)
        return library_environment(self.library, PCP_TRACE_HOST="127.0.0.1", PCP_TRACE_PORT=port.number, **variables)

    def start_process(self, *command, **options):
        """Starts a command, and kills it at the end of the test. Gives its process, with texts in its pipes: one for its
        output, and those of `options`."""
        process = subprocess.Popen(command, **{"text": True, "stdout": subprocess.PIPE} | options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def start_traced(self, environment, *name, **options):
        traced = Traced(environment, *name, **options)
        self.addCleanup(traced.kill)
        return traced

    def wait_for_attempts(self, count, pause):
        """Waits as long as a program needs for so many attempts to connect, with such a pause: by then an
        event that must not happen would have happened."""
        with FakeAgent(greeting=PERMISSION) as agent:
            traced = self.start_traced(library_environment(
                OUR_LIBRARY, PCP_TRACE_HOST="127.0.0.1", PCP_TRACE_PORT=agent.port, PCP_TRACE_RECONNECT=pause))
            traced.call("point a")
            private_pmcd.wait_until(lambda: agent.connections > count, what="attempts")

    def assert_shown_by_pmdammv(self, metric, tag, *command):
        """Runs a program with PCP_TRACE_MMV=demo and without an agent until PCP's pmdammv shows this."""
        pmcd = self.start_pmcd(mmv=True)
        process = self.start_process(*command, stdout=subprocess.DEVNULL, env=library_environment(
            OUR_LIBRARY, PCP_TRACE_MMV="demo", PCP_TMP_DIR=pmcd.path("tmp"), PCP_TRACE_NOAGENT=1))
        private_pmcd.wait_until(
            lambda: f'{named_in_mmv(process.pid)}/{tag}"] value' in pmcd.pminfo("-f", f"mmv.demo.{metric}"),
            what=f"{metric} of {tag}")

    def trace(self, environment, *lines):
        """Runs a program that makes these calls, to its end. Gives their results."""
        returned, complaints = self.trace_loudly(environment, *lines)
        self.assertEqual(complaints, "")
        return returned

    def trace_loudly(self, environment, *lines):
        """As trace, but the program may write on standard error; gives that, too."""
        done = completed(program("traced"), input="".join(line + "\n" for line in lines), env=environment, check=True)
        texts = done.stdout.splitlines()
        return [text if line.startswith("errstr") else int(text)
                for line, text in zip(lines, texts, strict=True)], done.stderr

    def assert_values(self, pmcd, metric, expected):
        """Checks a metric's values, once calls on their way have had time to arrive."""
        self.assertEqual(pmcd.wait_for(metric, expected), expected, metric)
