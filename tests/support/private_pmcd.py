# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private pmcd, with the trace agent as its only agent, in a temporary directory.

    with PrivatePmcd(agent=STOCK_AGENT, options=["-T", "2", "-N", "4"]) as pmcd:
        subprocess.run(["pmtrace", "foo"], env=pmcd.environment())
        assert pmcd.values("trace.point.count") == {"foo": 1}

It never touches the system's pmcd. Any number can run at once, as root or not. Nothing is left
behind: no process, port, socket or file.
"""

import atexit
import contextlib
import functools
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

STOCK_AGENT = "/usr/lib/pcp/pmdas/trace/pmdatrace"
STOCK_NAMESPACE = "/usr/lib/pcp/pmdas/trace/root"

# Long: only a fault (or a very busy machine) takes all of it.
PATIENCE_S = 120.0


def wait_until(condition, timeout=PATIENCE_S, what="condition"):
    """Polls until condition() is true and gives its value. TimeoutError after `timeout` s.

    Polls less and less often: many conditions start a process, and would keep a processor busy."""
    deadline = time.monotonic() + timeout
    pause = 0.02
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout:g} s for {what}")
        time.sleep(pause)  # poll: until the condition holds
        pause = min(1.25 * pause, 0.25)


def completed(*command, check=False, **options):
    """Runs a command to its end. Gives its completed process with the texts that it has printed. AssertionError if
    `check` and its exit status is not 0."""
    options = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": PATIENCE_S} | options
    done = subprocess.run(command, check=False, **options)
    assert done.returncode == 0 or not check, (command, done.returncode, done.stdout, done.stderr)
    return done


def _has_ipv6():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


HAS_IPV6 = _has_ipv6()


class ReservedPort:
    """A TCP port that is reserved as long as this exists, although nothing listens on it.

    Works because servers set SO_REUSEADDR: they may bind a port that is bound but has no listener."""

    def __init__(self):
        self._socket = socket.socket(socket.AF_INET6 if HAS_IPV6 else socket.AF_INET)
        if HAS_IPV6:
            self._socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("::" if HAS_IPV6 else "0.0.0.0", 0))
        self.number = self._socket.getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self._socket.close()


def pcp_configuration():
    """Gives the variables of /etc/pcp.conf; the environment wins, as everywhere in PCP."""
    variables = {}
    with open(os.environ.get("PCP_CONF", "/etc/pcp.conf"), encoding="utf-8") as file:
        for line in file:
            match = re.match(r'(PCP_\w+)="?(.*?)"?$', line.rstrip())
            if match:
                variables[match[1]] = os.environ.get(match[1], match[2])
    return variables


def is_running(pid):
    """False also for a process that has ended while its parent has not yet waited for it."""
    try:
        return any(state != "Z" for state in thread_states(pid))
    except OSError:
        return False


def wait_status(pid):
    """Gives the wait status, as of os.wait(), of a process that its parent has not yet waited for."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().split()[-1])


def children_of(pid, but=None):
    """Gives the pids of a process's children, without those of this name."""
    children = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                start, _, end = file.read().rpartition(")")
        except OSError:
            continue
        fields = end.split()
        if int(fields[1]) == pid and fields[0] != "Z" and start.partition("(")[2] != but:
            children.append(int(entry))
    return children


def thread_states(pid):
    """Gives the state letter of each thread of a process."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
            yield file.read().rpartition(")")[2].split()[0]


@contextlib.contextmanager
def stopped(pid):
    """Stops a process until the block ends."""
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: set(thread_states(pid)) == {"T"}, what="the process to stop")
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def parse_values(text):
    """Turns the output of `pminfo -f` for one metric into {instance name: value}, or {None: value}
    for a metric without instances. A metric without a value gives {}."""
    values = {}
    for line in text.splitlines():
        match = re.match(r'\s+(?:inst \[\d+ or "(.*)"\] )?value (.*)$', line)
        if match:
            values[match[1]] = parse_value(match[2])
    return values


def parse_value(text):
    if text.startswith('"'):
        return text[1:-1]
    try:
        return int(text)
    except ValueError:
        return float(text)


@functools.cache
def merged_namespace(*roots):
    """Gives pmcd's own names with those of agents' `root` files."""
    pcp = pcp_configuration()
    with tempfile.TemporaryDirectory(prefix="trace-") as directory:
        # The stock `root` includes <stdpmid>, which exists only after the machine's pmcd has run.
        with open(f"{directory}/stdpmid", "w", encoding="utf-8") as file:
            file.write("#define TRACE 10\n#define LINUX 60\n")
        subprocess.run([f"{pcp['PCP_BINADM_DIR']}/pmnsmerge", "-a", f"{pcp['PCP_VAR_DIR']}/pmns/root_pmcd",
                        *roots, "root"], cwd=directory, check=True, stdout=subprocess.DEVNULL)
        with open(f"{directory}/root", encoding="utf-8") as file:
            return file.read()


def _without_repeats(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), names
    return dict(pairs)


class NoAnswer(Exception):
    """Neither values nor a message that there are none: no pmcd, no agent, no such metric."""


class PrivatePmcd:
    """Starts pmcd and its agent on entering, ends both on leaving."""

    patience_at_end = PATIENCE_S

    def __init__(self, agent=STOCK_AGENT, options=(), namespace=None, environment=None,
                 host_name=None, mmv=False):
        """`options` are the agent's, beside -d, -I and -l. `namespace` is the agent's `root` file;
        without it, the one that PCP ships. `environment` adds to pmcd's and the agent's.
        `host_name` is what pmcd calls this machine. `mmv`: with PCP's agent for files of mmv(5),
        too; they are in tmp/mmv."""
        self.agent = agent
        self.options = list(options)
        self._namespace = namespace or STOCK_NAMESPACE
        self._extra_environment = dict(environment or {})
        self._host_name = host_name
        self._has_mmv = mmv
        self._pmcd = None
        self.directory = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exception_type, exception, traceback):
        if exception is not None:
            print(self.logs())
        self.stop()

    # Life ----------------------------------------------------------------------------------------

    def start(self):
        self.directory = tempfile.mkdtemp(prefix="trace-")
        atexit.register(self.stop)  # in case an interrupt keeps the test from it
        try:
            for name in ("run", "log", "tmp/mmv", "var/config/pmda"):
                os.makedirs(self.path(name))
            self._pmcd_port = ReservedPort()
            self._trace_port = ReservedPort()
            self.pmcd_port = self._pmcd_port.number
            self.trace_port = self._trace_port.number
            self._write_configuration(pcp_configuration())
            with open(self.path("root"), "w", encoding="utf-8") as file:
                mmv = f"{pcp_configuration()['PCP_PMDAS_DIR']}/mmv/root_mmv"
                file.write(merged_namespace(self._namespace, *([mmv] if self._has_mmv else [])))
            self.start_pmcd()
        except BaseException:
            print(self.logs())
            self.stop()
            raise

    def stop(self):
        """RuntimeError if the agent does not end well, or either has to be killed."""
        atexit.unregister(self.stop)
        try:
            self.end_pmcd()
        finally:
            for port in ("_pmcd_port", "_trace_port"):
                if hasattr(self, port):
                    getattr(self, port).close()
            shutil.rmtree(self.directory, ignore_errors=True)

    def end_pmcd(self):
        if self._pmcd:
            agent, pmcd, self._pmcd = self.agent_pid(), self._pmcd, None
            try:
                if agent:  # before pmcd, which would kill it after one second
                    self._end_agent(agent)
            finally:
                pmcd.terminate()
                self._wait_for_end(pmcd.pid, lambda: pmcd.poll() is not None, "pmcd")
                pmcd.wait()

    def start_pmcd(self):
        """Starts pmcd and its agent, also again after end_pmcd, on the same ports."""
        self._start_pmcd()
        self.wait_for_agent()

    def _start_pmcd(self):
        pcp = pcp_configuration()
        # setpriv: if this process is killed, pmcd and the agent end, too.
        command = ["setpriv", "--pdeathsig", "TERM", f"{pcp['PCP_BINADM_DIR']}/pmcd", "-f", "-A",
                   "-c", self.path("pmcd.conf"), "-n", self.path("root"), "-i", "127.0.0.1",
                   "-p", str(self.pmcd_port), "-s", self.pmcd_socket(),
                   # An agent may take its time on a busy machine.
                   "-q", f"{PATIENCE_S:g}", "-t", f"{PATIENCE_S:g}",
                   "-l", self.path("log/pmcd.log")]
        if self._host_name:
            command += ["-H", self._host_name]
        # In a session of its own: a terminal's Ctrl-C reaches only this process, which then ends both in order.
        self._pmcd = subprocess.Popen(
            command, env=self.pcp_environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def _write_configuration(self, pcp):
        agent = [self.agent, "-d", "10", "-I", str(self.trace_port), "-l",
                 self.path("log/trace.log"), *self.options]
        with open(self.path("pmcd.conf"), "w", encoding="utf-8") as file:
            file.write(f"pmcd 2 dso pmcd_init {pcp['PCP_PMDAS_DIR']}/pmcd/pmda_pmcd.so\n")
            file.write(f"trace 10 pipe binary {' '.join(agent)}\n")
            if self._has_mmv:
                file.write(f"mmv 70 dso mmv_init {pcp['PCP_PMDAS_DIR']}/mmv/pmda_mmv.so\n")

    def pcp_environment(self):
        """Gives the environment of pmcd and its agents."""
        environment = {
            name: value for name, value in os.environ.items()
            # The stock agent needs the stock library, and must not get variables for clients.
            if not name.startswith("PCP_TRACE_") and name not in ("LD_LIBRARY_PATH", "LD_PRELOAD")
        }
        environment |= {
            "PCP_USER": pwd.getpwuid(os.getuid()).pw_name,
            "PCP_RUN_DIR": self.path("run"), "PCP_LOG_DIR": self.path("log"),
            "PCP_TMP_DIR": self.path("tmp"), "PCP_VAR_DIR": self.path("var"),
            "PMCD_ROOT_AGENT": "0",  # else the system's pmdaroot starts the agent
            "PMCD_RESTART_AGENTS": "0",  # an agent that died stays dead until we want it back
        }
        return environment | self._extra_environment

    def _end_agent(self, pid):
        os.kill(pid, signal.SIGTERM)
        self._wait_for_end(pid, lambda: not is_running(pid), "the agent")
        try:
            status = wait_status(pid)
        except FileNotFoundError:
            return  # pmcd has waited for it: a monitor was there
        if status not in (0, int(signal.SIGTERM)):  # PCP's own agent dies of SIGTERM
            raise RuntimeError(f"the agent ended with wait status {status}\n{self.logs()}")

    def _wait_for_end(self, pid, has_ended, name):
        try:
            wait_until(has_ended, self.patience_at_end, f"the end of {name}")
        except TimeoutError as problem:
            os.kill(pid, signal.SIGKILL)
            raise RuntimeError(f"{name} had to be killed\n{self.logs()}") from problem

    # The agent -----------------------------------------------------------------------------------

    def agent_pid(self):
        """Gives the agent's pid, or None if there is none."""
        children = children_of(self._pmcd.pid)
        return children[0] if children else None

    def wait_for_agent(self):
        """Waits until the agent answers through pmcd."""
        def answers():
            if self._pmcd.poll() is not None:
                raise RuntimeError("pmcd has ended")
            with contextlib.suppress(NoAnswer):
                return self.values("trace.control.port")
        wait_until(answers, what="the agent's first answer")

    def pmcd_pid(self):
        return self._pmcd.pid

    def kill_agent(self, with_signal=signal.SIGKILL):
        """Ends the agent and waits until pmcd has noticed. Only restart starts it again."""
        os.kill(self.agent_pid(), with_signal)
        wait_until(lambda: not self.agent_pid(), what="the agent's end")
        self.pminfo("-f", "trace.control.port")  # makes pmcd notice

    def start_agent(self, options=None):
        """Starts the agent that kill_agent ended, on the same port, perhaps with other options."""
        if options is not None:
            self.options = list(options)
            self._write_configuration(pcp_configuration())
        self._pmcd.send_signal(signal.SIGHUP)
        wait_until(self.agent_pid, what="pmcd to start the agent")
        self.wait_for_agent()

    def restart_agent(self, options=None, with_signal=signal.SIGKILL):
        self.kill_agent(with_signal)
        self.start_agent(options)

    def take_metrics_out(self):
        """Makes pmcd forget the agent's metrics, as on a machine without them."""
        shutil.copy(f"{pcp_configuration()['PCP_VAR_DIR']}/pmns/root_pmcd", self.path("root"))
        self._pmcd.send_signal(signal.SIGHUP)
        wait_until(lambda: "Unknown metric" in self.pminfo("trace"), what="pmcd to forget them")

    def stopped_agent(self):
        """Stops the agent until the block ends: its host takes connections and data, but nobody answers."""
        return stopped(self.agent_pid())

    # Paths ---------------------------------------------------------------------------------------

    def path(self, name):
        return os.path.join(self.directory, name)

    def pmcd_socket(self):
        return self.path("run/pmcd.socket")

    def open_to_everybody(self):
        """Lets other users of this host reach pmcd and the agent, and make sockets beside theirs."""
        os.chmod(self.directory, 0o755)
        os.chmod(self.path("run"), 0o777)

    def host(self, unix=False):
        """Gives the argument of a monitor's -h. Over the Unix socket pmcd knows the user."""
        return f"unix:{self.pmcd_socket()}" if unix else f"127.0.0.1:{self.pmcd_port}"

    def environment(self, library=None, **variables):
        """Gives the environment of a traced program that talks to this agent: by TCP, or as
        `variables` say (None removes one). `library` is the libpcp_trace.so.2 that it loads; without it,
        the system's."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("PCP_TRACE_") and name != "LD_LIBRARY_PATH"}
        environment |= {"PCP_TRACE_HOST": "127.0.0.1", "PCP_TRACE_PORT": str(self.trace_port),
                        "PCP_TRACE_TIMEOUT": f"{PATIENCE_S:g}", "PCP_TRACE_LINGER": f"{PATIENCE_S:g}"}
        if library:
            environment["LD_LIBRARY_PATH"] = os.path.dirname(library)
        for name, value in variables.items():
            environment.pop(name, None)
            if value is not None:
                environment[name] = str(value)
        return environment

    def agent_log(self):
        return self._read("log/trace.log")

    def wait_for_log(self, text):
        """Waits until the agent has logged this, which it does soon; gives its log."""
        wait_until(lambda: text in self.agent_log(), what=f"{text!r} in the agent's log")
        return self.agent_log()

    def saved_numbers(self):
        """Gives the numbers of instances in the agent's file, one line for each."""
        return self._read("var/config/pmda/10.trace").splitlines()[2:-1]

    def wait_for_saved_numbers(self, count):
        """Waits until so many are saved: the agent does that soon after pmcd has seen them."""
        wait_until(lambda: len(self.saved_numbers()) == count, what="the numbers in their file")

    def wait_for_reserve(self, before=""):
        """Waits until the agent has reserved other numbers than `before`, as it does at its start; gives
        that line of the file."""
        def line():
            return (self._read("var/config/pmda/10.trace").splitlines() + ["", ""])[1]
        wait_until(lambda: line() not in ("", before), what="reserved numbers")
        return line()

    def logs(self):
        return "".join(f"--- {name}\n{self._read(name)}" for name in ("log/pmcd.log",
                                                                      "log/trace.log"))

    def _read(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    # Monitoring ----------------------------------------------------------------------------------

    def pminfo(self, *arguments, unix=False):
        """Runs pminfo and gives what it printed, errors included."""
        return self._monitor("pminfo", arguments, unix)

    def pmval(self, *arguments, unix=False):
        """Runs pmval and gives what it printed, errors included."""
        return self._monitor("pmval", arguments, unix)

    def pmstore(self, metric, value, unix=True):
        """Stores a value. Gives pmstore's exit status and what it printed."""
        done = self._run_monitor("pmstore", (metric, str(value)), unix)
        return done.returncode, done.stdout + done.stderr

    def _monitor(self, tool, arguments, unix):
        done = self._run_monitor(tool, arguments, unix)
        return done.stdout + done.stderr

    def _run_monitor(self, tool, arguments, unix):
        # PCP's tools would give up after ten seconds, and show no value.
        patient = {name: f"{PATIENCE_S:g}" for name in ("PMCD_CONNECT_TIMEOUT",
                                                        "PMCD_REQUEST_TIMEOUT")}
        return subprocess.run([tool, "-h", self.host(unix), *arguments], capture_output=True,
                              text=True, errors="replace", timeout=2 * PATIENCE_S, check=False,
                              env=os.environ | patient)

    def values(self, metric, unix=False):
        """Gives {instance name: value}, or {None: value} for a metric without instances. NoAnswer
        if pminfo does not say that there are none."""
        shown = self.pminfo("-f", metric, unix=unix)
        values = parse_values(shown)
        if not values and "No value(s) available!" not in shown:
            raise NoAnswer(f"{metric}: {shown}")
        return values

    def value(self, metric, instance=None):
        """Gives one value, None if there is none."""
        return self.values(metric).get(instance)

    def instances(self, metric):
        """Gives {instance name: its number} of a metric's instances that have a value."""
        found = re.findall(r'inst \[(\d+) or "(.*)"\] value', self.pminfo("-f", metric))
        return {name: int(number) for number, name in found}

    def labels(self, metric="trace.point.count"):
        """Gives {instance name: its labels, with those of its host}."""
        found = re.findall(r'^    inst \[\d+ or "(.*)"\] labels (\{.*\})$', self.pminfo("-l", metric), re.MULTILINE)
        return {name: json.loads(labels, object_pairs_hook=_without_repeats) for name, labels in found}

    def wait_for(self, metric, expected, timeout=PATIENCE_S):
        """Waits until a metric's values are `expected`. Gives the last values seen, for a comparison."""
        deadline = time.monotonic() + timeout
        while (values := self.values(metric)) != expected and time.monotonic() < deadline:
            time.sleep(0.02)  # poll: until the values are there
        return values
