# SPDX-License-Identifier: LGPL-2.1-or-later
"""`pcp trace record`: with any program and any end, the last sample has all calls, PCP's tools read the archive, and
other processes are undisturbed."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import unittest

import recorded
from cutting_proxy import CuttingProxy
from private_pmcd import (PATIENCE_S, children_of, completed, is_running, pcp_configuration, stopped, thread_states,
                          wait_until)
from test_lifecycle import MOMENTS
from trace_test import (OUR_LIBRARY, OUR_PMTRACE, PERMISSION, STOCK_AGENT, STOCK_LIBRARY, TraceTestCase,
                        everybodys_folder, library_environment, program, without_leaks)

only_root = unittest.skipUnless(os.getuid() == 0, "only root can become somebody else")

# Also without pending records.
CLOSE_THEIR_SESSION = ("daemonized", "main-left-untraced", "main-left-in-child", "pre-forked")


class Recording(TraceTestCase):
    def setUp(self):
        self.folder = self.path("run.trace")

    @contextlib.contextmanager
    def variant(self, name):
        """A subtest with a recording of its own."""
        with self.subTest(name):
            self.folder = self.path(name)
            yield

    def plain_environment(self, library=OUR_LIBRARY, **variables):
        return library_environment(library, **variables)

    def record(self, *command, library=OUR_LIBRARY, options=(), folder=None, **arguments):
        return recorded.record(folder or self.folder, *command, options=options,
                               environment=self.plain_environment(library), **arguments)

    def record_well(self, *command, **arguments):
        """Gives the program's output."""
        done = self.record(*command, **arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def start_program(self, *command, **arguments):
        """Starts to record a program that reads its calls from a pipe."""
        recording = recorded.start(self.folder, *command, stdin=subprocess.PIPE, environment=self.plain_environment(),
                                   **arguments)
        self.addCleanup(recording.communicate)
        self.addCleanup(recording.kill)
        return recording

    def ask(self, recording, line):
        recording.stdin.write(line + "\n")
        recording.stdin.flush()
        return recording.stdout.readline()

    def tool(self, *words):
        path = "/usr/bin:/bin:" + pcp_configuration()["PCP_BINADM_DIR"]
        done = completed(*words, timeout=4 * PATIENCE_S, errors="replace", env=os.environ | {"TZ": "UTC", "PATH": path})
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout

    def report(self):
        return json.loads(completed(recorded.COMMAND, "report", "--json", self.folder, check=True).stdout)

    def last(self, metric):
        return recorded.last_values(self.folder, metric)

    def wait_for_value(self, metric, expected):
        def is_there():
            with contextlib.suppress(AssertionError):  # the archive may be incomplete at this moment
                return any(sample.get(metric) == expected for sample in recorded.samples(self.folder))
        wait_until(is_there, what=f"a sample with {metric}")

    def wait_for_samples(self, more):
        recorded.wait_for_samples(f"{self.folder}/trace", more)


class Programs(Recording):
    """All calls of a program are in the last sample."""

    def test_of_either_library(self):
        calls = ["point a", "begin b", "end b", "begin b", "abort b", "obs 2.5 c", "counter 7 d",
                 "sleep 0.3",  # load: several samples are taken meanwhile
                 "obs -4 c", "point a"]
        for name, library in (("ours", OUR_LIBRARY), ("stock", STOCK_LIBRARY)):
            with self.variant(name):
                self.record_well(program("traced"), input="\n".join(calls) + "\n",
                                 library=library, options=["-t", "100ms"])
                self.assertEqual(self.last("trace.point.count"), {"a": 2})
                self.assertEqual(self.last("trace.transact.count"), {"b": 1})
                self.assertEqual(self.last("trace.observe.count"), {"c": 2})
                self.assertEqual(self.last("trace.observe.value"), {"c": -4})
                self.assertEqual(self.last("trace.counter.value"), {"d": 7})
                self.assertEqual(recorded.complaints(self.folder), "")

    def test_that_live_unusually(self):
        environment = without_leaks(self.plain_environment())
        # Servers that root starts have workers of another user.
        moments = MOMENTS | {"workers-of-another-user": {"master": 1, "worker": 4}}
        for moment, counts in moments.items():
            extra = {"LIFECYCLE_CONSTRUCTOR": "1"} if moment == "constructor" else {}
            with self.variant(moment), everybodys_folder() as everybodys:
                done = recorded.record(self.folder, program("lifecycle"), moment,
                                       environment=environment | extra | {"LIFECYCLE_EVERYBODYS": everybodys})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.last("trace.point.count"), counts)
                if moment in CLOSE_THEIR_SESSION:
                    self.assertEqual(recorded.statement(self.folder), "complete")

    @only_root
    def test_of_other_users_change_nothing(self):
        """They do not learn from the kernel where the socket is. Though told by somebody, they do not get in."""
        recording = self.start_program("sh", "-c", "echo $PCP_TRACE_SOCKET; exec $0", program("traced"))
        path = recording.stdout.readline().strip()
        knock = ("import socket, sys\n"
                 "with socket.socket(socket.AF_UNIX) as peer:\n"
                 "    peer.connect(sys.argv[1])\n"
                 "    print(peer.recv(100).hex())\n")
        become = ["setpriv", "--reuid=65534", "--clear-groups"]
        with open("/proc/net/unix", encoding="utf-8") as sockets:
            self.assertNotIn(path, sockets.read())
        answer = completed(*become, "/usr/bin/python3", "-c", knock, path, check=True).stdout
        self.assertEqual(int.from_bytes(bytes.fromhex(answer)[-4:], "big", signed=True), PERMISSION)
        for command in (["rm", path], ["ls", os.path.dirname(path)]):
            done = subprocess.run([*become, *command], check=False, capture_output=True, timeout=PATIENCE_S)
            self.assertNotEqual(done.returncode, 0, command)
        _, errors = recording.communicate(timeout=PATIENCE_S)
        self.assertRegex(errors, "client pid [0-9]+ of uid 65534, .*: refused: not a process of this user")
        self.assertEqual(recorded.statement(self.folder), "complete")

    def test_too_long_for_their_labels_let_no_gate_pass(self):
        self.record_well("sh", "-c", "printf 'obs 1 solve\\nobs 1 %0250d\\nobs 1 %0250d\\n' | PMI_RANK=0 $0", program("traced"), options=["--split=rank"])
        done = completed(recorded.COMMAND, "report", "--fail-if", "*{rank=*} calls > 1", self.folder)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("calls > 1: tags were too long for the labels of --split: make them shorter", done.stdout)

    def test_of_a_job_on_other_hosts_are_not_there_which_its_first_rank_says(self):
        for rank, said in ((0, "pcp-trace record: 2 of the 4 ranks of the job are on this host, and this recording has"
                               " this host only: start record on each host, and report all folders together"
                               " (pcp-trace-record(1), Several hosts)\n"), (1, "")):
            done = recorded.record(f"{self.folder}{rank}", "true", environment=self.plain_environment() | {
                "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"})
            self.assertEqual((done.returncode, done.stderr), (0, said))

    def test_that_are_killed_while_they_hang(self):
        recording = self.start_program(program("traces"), options=["-t", "50ms"])
        self.ask(recording, "begin 0 hung")
        self.wait_for_value("trace.transact.inflight", {"hung": 1})
        hanging = recorded.program_of(recording)
        self.wait_for_value("trace.transact.oldest_where", {"hung": f"{hanging}/{hanging}"})
        os.kill(hanging, signal.SIGKILL)
        recording.communicate(timeout=PATIENCE_S)
        self.assertEqual(recording.returncode, 128 + signal.SIGKILL)
        self.assertEqual(self.last("trace.transact.inflight"), {"hung": 0})
        self.assertEqual(self.last("trace.transact.vanished"), {"hung": 1})

    def test_that_go_on_in_the_background(self):
        """Needs --wait."""
        self.record_well("sh", "-c", "(sleep 3; $0 -q late) >/dev/null 2>&1 & $0 -q soon",
                         OUR_PMTRACE, options=["--wait"])
        self.assertEqual(self.last("trace.point.count"), {"soon": 1, "late": 1})

    def test_do_not_hear_from_it(self):
        """Standard output and error belong to the program."""
        # load: several samples are taken meanwhile. A JVM exits with 143 after SIGTERM, though no signal ended it.
        script = "echo out; echo error >&2; sleep 0.3; exit 143"
        done = self.record("sh", "-c", script, options=["-t", "50ms"])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (143, "out\n", "error\n"))
        self.assertEqual(recorded.statement(self.folder), "complete")

    @only_root
    def test_of_other_users_are_kept_out_though_they_have_gone(self):
        """The kernel reports such a process as root's."""
        attack = ("import os, socket, sys; sys.path.insert(0, sys.argv[1]); import legacy_wire\n"
                  "os.setgroups([]); os.setuid(65534)\n"
                  "for _ in range(500):\n"
                  "    with socket.create_connection(('127.0.0.1', int(os.environ['PCP_TRACE_PORT'])))"
                  " as peer:\n"
                  "        peer.sendall(legacy_wire.encode_data('point', 'forged', 1))\n")
        self.record(sys.executable, "-c", attack, os.path.dirname(recorded.__file__))
        self.assertEqual(self.last("trace.point.count"), {})

    def test_have_their_own_environment_and_limits(self):
        environment = {name: value for name, value in self.plain_environment().items()
                       if not name.startswith("PCP_")}
        done = recorded.record(self.folder, "sh", "-c", "env | grep -o '^PCP_[A-Z_]*' | sort;"
                               " ulimit -Sn; kill -XFSZ $$", environment=environment,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                     (200, 4000)))
        self.assertEqual(done.stdout, "PCP_TRACE_FLUSH\nPCP_TRACE_HOST\nPCP_TRACE_PORT\nPCP_TRACE_QUEUE\nPCP_TRACE_SOCKET\n200\n")
        self.assertEqual(done.returncode, 128 + signal.SIGXFSZ)


class Registration(Recording):
    """For PCP 7.2's agent pmimport; older versions of PCP have no directory for it."""

    def plain_environment(self, library=OUR_LIBRARY, **variables):
        return super().plain_environment(library, PCP_IMPORTRUN_DIR=self.path("import"), **variables)

    def test_lasts_as_long_as_the_recording(self):
        file, folder = self.path("import/pcp-trace"), self.path("two\nlines")
        self.record_well("true")  # the directory is missing
        os.mkdir(self.path("import"))
        pid, *lines = self.record_well("sh", "-c", f"echo $PPID; cat {file}", folder=folder).splitlines()
        version = completed(recorded.COMMAND, "--version", check=True).stdout.split()[1]
        archive = self.path("two\\x0alines/trace")
        self.assertEqual(lines, [f"pid={pid}", f"version={version}", "args=sh", f"archive={archive}"])
        self.assertEqual(os.listdir(self.path("import")), [])
        self.record_well("sh", "-c", f"echo another >{file}", folder=self.path("run2.trace"))
        self.assertEqual(os.listdir(self.path("import")), ["pcp-trace"])


class Intervals(Recording):
    def test_grow_with_the_tags_and_have_all_values_once(self):
        """The interval that runs becomes longer: each value is in one window, and so each maximum is exact."""
        few = "".join(f"obs {number} a\nsleep 0.002\n" for number in range(100))  # load: in several short intervals
        many = "".join(f"obs {number} tag{number}\n" for number in range(600))
        last = "".join(f"obs {number} a\nsleep 0.002\n" for number in range(100, 200))
        self.record_well(program("traced"), input=few + many + last)
        samples = [sample for sample in recorded.samples(self.folder) if "trace.agent.period" in sample]
        periods = [sample["trace.agent.period"][None] for sample in samples]
        self.assertEqual(periods, sorted(periods))
        self.assertEqual(periods[0], 0.1)
        self.assertGreater(periods[-1], 0.1)  # 1, unless a sample has seen some of the tags, and the run ended before the next
        tags = {tag["name"]: tag for tag in self.report()["tags"]}
        self.assertEqual((tags["a"]["calls"], tags["a"]["min"], tags["a"]["max"]), (200, 0, 199))
        self.assertTrue(tags["a"]["max_is_exact"] and tags["a"]["min_is_exact"])
        in_windows = sum(sample.get("trace.observe.rate", {}).get("a", 0) * period
                         for sample, period in zip(samples, periods))
        self.assertAlmostEqual(in_windows, 200, places=3)

    def test_that_end_with_the_run_are_whole(self):
        """Also if the run ends just after one has ended, which is before its sample is due."""
        for number in range(12):
            self.folder = self.path(str(number))
            calls = "".join(f"obs {value} a\nsleep 0.001\n" for value in range(90 + number))
            self.record_well(program("traced"), input=calls)
            [tag] = self.report()["tags"]
            self.assertEqual((tag["max"], tag["max_is_exact"], tag["min_is_exact"]), (89 + number, True, True))

    def test_have_values_for_pcps_tools(self):
        """They begin at the archive's begin, and show a metric's first record."""
        self.record_well(program("traced"), input="begin a\nsleep 0.05\nend a\n" * 8)  # load: several samples
        archive = f"{self.folder}/trace"
        for metric in ("trace.transact.count", "trace.transact.p50"):
            self.assertRegex(completed("pminfo", "-f", "-a", archive, metric, check=True).stdout,
                             r'\n    inst \[1 or "a"\] value \S+\n')
        self.assertRegex(completed("pmlogsummary", archive, "trace.transact.count", check=True).stdout,
                         r'^trace\.transact\.count \["a"\] [\d.]+ count / sec')
        values = completed("pmval", "-a", archive, "-t", "100msec", "trace.transact.count", check=True).stdout
        self.assertRegex(values, r"\n\d\d:\d\d:\d\d\.\d+ +[1-9]\d\.\d+ *\n")


class Ends(Recording):
    def test_without_a_folder_if_there_is_no_such_program(self):
        done = self.record("there-is-no-such-program")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr, "pcp-trace record: cannot execute there-is-no-such-program:"
                         " No such file or directory\n")
        self.assertIn("put --spans before it", self.record("died", "true").stderr)
        self.assertFalse(os.path.exists(self.folder))
        self.assertEqual(self.record("/etc/passwd").returncode, 126)
        self.assertFalse(os.path.exists(self.folder))

    @staticmethod
    def with_descriptors(limit):
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))}

    def test_at_once_if_there_are_no_descriptors_for_programs(self):
        done = self.record("echo", "started", **self.with_descriptors(64))
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertEqual(done.stderr, "pcp-trace record: the limit of 64 open files leaves none for"
                         " traced programs: raise it, to 256 or more, with ulimit -n\n")
        self.assertFalse(os.path.exists(self.folder))

    def test_with_a_word_if_there_were_too_few_descriptors_for_all_programs(self):
        script = "exec 3<&0; for i in 1 2 3 4 5; do { echo point a; read end <&3; } | $0 & done; wait"
        recording = self.start_program("sh", "-c", script, program("traced"), **self.with_descriptors(66))
        for _ in range(5):  # each has connected or was refused
            recording.stdout.readline()
        _, errors = recording.communicate(timeout=PATIENCE_S)
        self.assertEqual(recording.returncode, 125)
        self.assertRegex(errors, "pcp-trace record: too many traced programs at a time for"
                         r" the limit of 66 open files \(ulimit -n\); some of their calls may be"
                         " missing\n$")
        self.assertEqual(recorded.doubt(self.folder, "a calls > 5"), "too many traced programs at a"
                         " time for the limit of 66 open files (ulimit -n)")

    def test_with_a_mistake_on_the_command_line(self):
        done = self.record("touch", self.path("touched"), options=["--spans", "tga=a"])
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, r"\Apcp-trace record: --spans: .*tga.* \(pcp-trace spans --help\)\n\Z")
        self.assertEqual(os.listdir(self.directory), [])

    def test_with_a_kill_leave_a_readable_archive_and_the_program_alone(self):
        recording = self.start_program("sh", "-c", "echo $$; echo $PCP_TRACE_SOCKET; exec $0", program("traced"),
                                         options=["-t", "20ms"])
        pid = int(recording.stdout.readline())
        private = os.path.dirname(recording.stdout.readline().strip())
        for number in range(25):
            self.ask(recording, f"point tag{number}")
            self.wait_for_samples(1)
        recording.kill()
        recording.wait(PATIENCE_S)
        recorded.cut_half_a_sample(self.folder)
        self.assertEqual(recorded.complaints(self.folder), "")
        self.assertEqual(recorded.doubt(self.folder, "tag1 calls > 1"), "it has no end mark: the recording still runs,"
                         " or record was killed")
        self.assertTrue(is_running(pid))
        self.assertGreater(len(recorded.samples(self.folder)), 2)
        self.record_well("true", folder=self.folder + "2")
        self.assertFalse(os.path.exists(private))
        recording.communicate("point a\n", timeout=PATIENCE_S)
        wait_until(lambda: not is_running(pid), what="the program's end")

    def test_when_a_file_may_not_grow(self):
        # load: there are samples before the one for which there is no room
        lines = "point first\nsleep 0.3\n" + "".join(f"point tag{number}\n" for number in range(2000))
        done = self.record("sh", "-c", "$0 >/dev/null; echo well", program("traced"), input=lines,
                           options=["-t", "10ms"], preexec_fn=lambda: resource.setrlimit(
                               resource.RLIMIT_FSIZE, (40_000, 40_000)))
        self.assertEqual((done.returncode, done.stdout), (125, "well\n"))
        self.assertIn("File too large", done.stderr)
        self.assertEqual(recorded.complaints(self.folder), "")
        self.assertRegex(recorded.doubt(self.folder, "tag1 calls > 1"),
                         rf"^{self.folder}/trace\.\w+: File too large$")

    def test_whose_recorder_answered_nothing_to_a_program(self):
        stopping = 'export PCP_TRACE_LINGER=1; echo point a | "$0"; kill -STOP $PPID; echo point a | "$0"; kill -CONT $PPID'
        self.record("sh", "-c", stopping, program("traced"))
        self.assertEqual(recorded.doubt(self.folder, "a calls > 1"),
                         "a traced program disconnected before record could answer")

    def test_whose_recorder_acknowledged_nothing_to_a_program_that_ended(self):
        """The program has sent all, and said so."""
        stopping = ('cd "$1" && mkfifo calls answers; "$0" <calls >answers & exec 3>calls 4<answers;'
                    f' echo point a >&3; read answer <&4; echo flush {PATIENCE_S} >&3; read answer <&4;'
                    ' kill -STOP $PPID; echo point a >&3; exec 3>&-; wait; kill -CONT $PPID')
        self.record_well("sh", "-c", stopping, program("traced"), self.directory)
        self.assertEqual(recorded.statement(self.folder), "complete")
        self.assertEqual(self.last("trace.point.count"), {"a": 2})

    def test_of_programs_that_were_killed_say_so(self):
        """Either the started program, or a child, whether or not the program's own status reports that end."""
        for name, script, status, why in (("itself", "exec $0", 137, r"ended by signal 9: Killed; .*"),
                                          ("other", "$0; true", 0, "1 process did not end by itself, .*"),
                                          ("reported", "$0; exit $?", 137, "1 process did not end by itself, .*")):
            with self.variant(name):
                recording = self.start_program("sh", "-c", f"echo $$; {script}", program("traced"),
                                               options=["-t", "50ms"])
                pid = int(recording.stdout.readline())
                self.ask(recording, "point a")
                self.wait_for_value("trace.point.count", {"a": 1})
                if name != "itself":
                    (pid,) = children_of(pid)
                os.kill(pid, signal.SIGKILL)
                recording.communicate(timeout=PATIENCE_S)
                self.assertEqual(recording.returncode, status)
                self.assertRegex(recorded.doubt(self.folder, "a calls > 1"), f"^{why}$")

    def test_of_orphans_that_were_killed_say_so(self):
        """Only the recorder sees their end, and they may not even have connected."""
        self.record("sh", "-c", "$0 -q a; (sh -c 'kill -KILL $$' &)", OUR_PMTRACE)
        self.assertEqual(recorded.doubt(self.folder, "a calls > 1"),
                         "a signal ended one of its processes, which may not have sent all calls")

    def test_of_programs_that_leave_right_after_their_first_call_say_so(self):
        """None of these ends delivers anything."""
        for end in ("exec", "_exit"):
            with self.variant(end):
                self.record_well(program("leaves_at_once"), end)
                self.assertIn(recorded.statement(self.folder),
                              ("a traced program disconnected before record could answer",
                               "1 process did not end by itself, and may not have sent all"))

    def show(self, *options, status=0, **streams):
        """Records a program with this exit status, and redirects the recorder's output to these streams."""
        return completed(recorded.COMMAND, "record", "-o", self.folder, *options, "sh", "-c", f"exit {status}",
                         env=self.plain_environment(), **streams)

    def test_with_a_failure_if_what_they_show_is_lost(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for number, (status, expected) in enumerate(((0, 125), (3, 3))):
                self.folder = self.path(str(number))
                done = self.show("--json", status=status, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual((done.returncode, done.stderr), (
                    expected,
                    "pcp-trace record: cannot write the summary: No space left on device\n"))
                self.folder += "-summary"
                done = self.show(status=status, stderr=full)
                self.assertEqual(done.returncode, expected)

    def test_well_though_nobody_reads_what_they_show(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        with os.fdopen(write_end, "w") as unread:
            for number, (options, stream) in enumerate(((["--json"], "stdout"), ([], "stderr"))):
                self.folder = self.path(str(number))
                done = self.show(*options, status=3 * number, **{stream: unread})
                self.assertEqual(done.returncode, 3 * number)
                self.assertEqual(recorded.complaints(self.folder), "")
                self.assertTrue(os.path.exists(self.folder + "/trace.html"))

    def test_leave_nothing_behind(self):
        path = self.record_well("sh", "-c", "echo $PCP_TRACE_SOCKET").strip()
        self.assertFalse(os.path.exists(os.path.dirname(path)))


class Archives(Recording):
    """Each of PCP's tools reads the recording."""

    CALLS = ["begin plain", "end plain", "obs 3 request{route=/cart;zone=a%20b}",
             "point with blanks and \"quotes\"", "point \xe4\xf6\xfc", "counter 4 late", "obs 5 late",
             f"flush {PATIENCE_S}"]

    def test_with_each_tool(self):
        for version in "23":
            with self.variant(version):
                recording = self.start_program(program("traced"),
                                                 options=["-t", "50ms", "--archive-version", version])
                for call in self.CALLS:
                    self.ask(recording, call)
                self.wait_for_samples(6)
                recording.communicate(timeout=PATIENCE_S)
                self.try_tools(os.path.join(self.folder, "trace"))

    def try_tools(self, archive):
        self.assertEqual(recorded.complaints(self.folder), "")
        dump = self.tool("pmdumplog", "-ae", archive)
        for text in ('"route":"/cart"', '"zone":"a b"', '"trace_type":"observe"', "\"plain\""):
            self.assertIn(text, dump)
        summary = self.tool("pmlogsummary", "-l", archive)
        self.assertIn("trace.transact.count", summary)
        self.assertIn("plain", self.tool("pminfo", "-f", "-a", archive, "-O", "-0.01",
                                         "trace.transact.count"))
        values = self.tool("pmval", "-r", "-t", "0.05", "-a", archive, "-i", "plain",
                           "trace.transact.count")
        self.assertRegex(values, r"\n\S+ +1\b")
        self.assertIn("plain", self.tool("pmrep", "-a", archive, "-t", "0.05",
                                         "trace.transact.count"))
        for tool in (["pmlogextract"], ["pmlogreduce", "-t", "0.1"], ["pmlogrewrite"]):
            made = os.path.join(self.folder, tool[0])
            self.tool(*tool, archive, made)
            self.assertIn("trace.observe.count", self.tool("pmdumplog", "-d", made))
            self.tool("pmlogcheck", made)


class Hosts(Recording):
    def start_recording(self, pmcd, *options, by=None, samples=2):
        """Starts to record a pmcd, perhaps through a proxy, and waits for samples. PCP's library waits longer for
        answers than the test does."""
        patient = dict.fromkeys(("PMCD_CONNECT_TIMEOUT", "PMCD_REQUEST_TIMEOUT"), "1000")
        recording = self.start_process(recorded.COMMAND, "record", "-q", "-t", "100ms", *options, "-h",
                                       f"127.0.0.1:{by.port}" if by else pmcd.host(), "-o", self.folder,
                                       env=pmcd.pcp_environment() | patient, stderr=subprocess.PIPE)
        self.wait_for_samples(samples)
        return recording

    def interrupt(self, recording):
        """Ends a recording, which must have nothing to say."""
        recording.send_signal(signal.SIGINT)
        self.assertEqual(recording.communicate(timeout=PATIENCE_S)[1], "")
        self.assertEqual(recording.returncode, 0)

    def test_what_a_host_shows_is_recorded(self):
        for name, agent in (("ours", self.agent), ("stock", STOCK_AGENT)):
            with self.variant(name):
                pmcd = self.start_pmcd(agent=agent)
                self.trace(self.environment(pmcd), "point a", "obs 3 b{x=y}")
                self.assert_values(pmcd, "trace.point.count", {"a": 1})
                recording = self.start_recording(pmcd)
                self.trace(self.environment(pmcd), "point a", "point late", "obs 10 c", "obs nan c")
                self.assert_values(pmcd, "trace.point.count", {"a": 2, "late": 1})
                self.interrupt(recording)
                self.assertEqual(self.last("trace.point.count"), {"a": 2, "late": 1})
                self.assertEqual(set(self.last("trace.observe.count").values()), {1, 2})
                gate = completed(recorded.COMMAND, "report", "--json", "--fail-if", "c mean < 6", self.folder)
                self.assertEqual(gate.returncode, 2)
                tag = next(tag for tag in json.loads(gate.stdout)["tags"] if tag["name"] == "c")
                self.assertEqual((tag["calls"], tag["mean"], tag["nonfinite"]),
                                 (2, 10, 1) if name == "ours" else (2, None, None))
                self.assertEqual(recorded.complaints(self.folder), "")

    @contextlib.contextmanager
    def stopped(self, pmcd):
        with stopped(pmcd.pmcd_pid()):
            yield
        pmcd.wait_for_agent()  # else the agent's backlog would delay its end

    def hear(self, recording, expected):
        self.assertRegex(recording.stderr.readline(), f"^pcp-trace record: 127.0.0.1:.*{expected}")

    def count_points(self, pmcd, **counts):
        """Makes one call for each tag, and waits until the agent has these counts."""
        self.trace(self.environment(pmcd), *[f"point {tag}" for tag in counts])
        values = pmcd.wait_for("trace.point.count", pmcd.values("trace.point.count") | counts)
        self.assertEqual(values, values | counts)

    def test_that_go_away_are_waited_for(self):
        """The recorder says so once, and adds up the counts of before and after."""
        self.count_points(self.pmcd, a=1, b=1)
        proxy = self.enterContext(CuttingProxy(self.pmcd.pmcd_port))
        recording = self.start_recording(self.pmcd, by=proxy)
        self.count_points(self.pmcd, a=2, b=2)
        self.wait_for_samples(2)

        self.pmcd.kill_agent()
        self.hear(recording, ": the trace agent: .*; waiting for it$")
        self.pmcd.start_agent()
        self.count_points(self.pmcd, a=1)
        self.hear(recording, " is back$")
        self.wait_for_samples(2)

        with self.stopped(self.pmcd):
            proxy.cut()
            self.hear(recording, ": pmcd: .*; waiting for it$")
        self.hear(recording, " is back$")
        self.wait_for_samples(2)
        self.count_points(self.pmcd, a=2, b=1)
        self.wait_for_samples(2)
        self.interrupt(recording)
        self.assertEqual(recorded.complaints(self.folder), "")
        run = self.report()
        # Since the recording began: a once in the first agent's life and twice in the second's, b once in each.
        self.assertEqual({tag["name"]: tag["calls"] for tag in run["tags"]}, {"a": 3, "b": 2})
        self.assertEqual(len(run["run"]["gaps"]), 2)

    def test_that_begin_anew_between_two_samples_have_a_gap(self):
        for name in ("restarted", "reset"):
            with self.variant(name):
                pmcd = self.start_pmcd()
                self.count_points(pmcd, a=1)
                recording = self.start_recording(pmcd, "-t", "1h", samples=0)
                self.wait_for_value("trace.point.count", {"a": 1})
                self.count_points(pmcd, a=2)
                if name == "reset":
                    pmcd.pmstore("trace.control.reset", 1)
                else:
                    pmcd.restart_agent()
                self.count_points(pmcd, a=1)
                self.interrupt(recording)
                self.assertRegex(recorded.doubt(self.folder, "a calls > 1"), "^it has gaps: ")
                shown = self.report()
                self.assertEqual({tag["name"]: tag["calls"] for tag in shown["tags"]}, {"a": 1})
                self.assertEqual(len(shown["run"]["gaps"]), 1)

    def test_that_do_not_answer_delay_no_end(self):
        """Neither during a request, nor without a connection."""
        for name in ("asked", "lost"):
            with self.variant(name):
                pmcd = self.start_pmcd()
                self.count_points(pmcd, a=1)
                proxy = self.enterContext(CuttingProxy(pmcd.pmcd_port))
                recording = self.start_recording(pmcd, by=proxy)
                with self.stopped(pmcd):
                    if name == "lost":
                        proxy.cut()
                        self.hear(recording, ": pmcd: .*; waiting for it$")
                        wait_until(lambda: proxy.connections >= 2, what="another connection")
                    wait_until(lambda: len(list(thread_states(recording.pid))) > 1,
                               what="a question")
                    recording.send_signal(signal.SIGINT)
                    errors = recording.communicate(timeout=PATIENCE_S)[1]
                self.assertEqual(recording.returncode, 125)
                self.assertRegex(errors, r"\Apcp-trace record: the recording has ended too early:"
                                 r" pmcd.*\n\Z")
                self.assertEqual(recorded.complaints(self.folder), "")
                self.assertTrue(os.path.exists(f"{self.folder}/trace.html"))

    def test_that_do_not_answer_delay_no_appointed_end(self):
        self.count_points(self.pmcd, a=1)
        for seconds in (2, 60):  # on a busy machine the recording may end before pmcd is stopped
            self.folder = self.path(str(seconds))
            recording = self.start_recording(self.pmcd, "-s", f"{seconds}s", samples=0)
            self.wait_for_value("trace.point.count", {"a": 1})
            with self.stopped(self.pmcd):
                errors = recording.communicate(timeout=PATIENCE_S)[1]
            if errors:
                break
        self.assertIn("ended too early", errors)
        self.assertEqual(recorded.complaints(self.folder), "")

    def test_that_cannot_be_recorded_are_named(self):
        self.pmcd.kill_agent()
        for host, complaint in (("local:/no/socket", "cannot connect to pmcd on "),
                                (self.pmcd.host(), f"{self.pmcd.host()}: its trace agent does not run, ")):
            done = completed(recorded.COMMAND, "record", "-h", host, cwd=self.directory)
            self.assertEqual(done.returncode, 125)
            self.assertTrue(done.stderr.startswith(f"pcp-trace record: {complaint}"), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(os.listdir(self.directory), [])
