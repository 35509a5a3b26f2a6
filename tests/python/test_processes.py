# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts are exact, however processes, threads and interpreters of Python begin and end."""

import json
import pathlib
import re
import signal
import subprocess

from private_pmcd import wait_until
from python_test import PythonTestCase, python, traced


def ignores(pid, number):
    mask = re.search(r"^SigIgn:\s*(\S+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii"), re.MULTILINE)
    return int(mask[1], 16) >> (number - 1) & 1


class Processes(PythonTestCase):
    def check(self, how):
        # No flush comes in time: each end has to deliver.
        pmcd = self.check_counts(*python("processes.py", how), PCP_TRACE_FLUSH=60_000)
        self.assertIn('"service":"processes"', pmcd.pminfo("-l", "trace.point.count"))

    def test_multiprocessing_by_fork(self):
        self.check("fork")

    def test_multiprocessing_by_spawn(self):
        self.check("spawn")

    def test_multiprocessing_by_forkserver(self):
        self.check("forkserver")

    def test_a_child_ends_no_transaction_of_its_parent(self):
        for how in ("exit", "_exit", "decorated"):
            self.check(how)

    def test_threads(self):
        self.check("threads")

    def test_subinterpreters(self):
        self.check("interpreters")

    def test_what_nothing_needs_is_freed(self):
        self.run_python(self.nowhere(), *python("freed.py"))

    def test_signals(self):
        for how in ("signals", "killed", "interrupted"):
            self.check(how)
        self.run_python(self.nowhere(), *python("processes.py", "waiting"))
        self.run_python(self.nowhere(PCP_TRACE_CAPTURE="tag=*"), *python("processes.py", "late"))

    def test_signals_do_not_end_a_program_that_waits_for_a_busy_agent(self):
        pmcd = self.start_pmcd()
        with pmcd.stopped_agent():
            program = self.enterContext(subprocess.Popen(
                python("processes.py", "signals"), env=traced(self.environment(pmcd, PCP_TRACE_FLUSH=60_000)),
                stdout=subprocess.PIPE))
            wait_until(lambda: ignores(program.pid, signal.SIGTERM), what="the delivery at the program's end")
            program.terminate()
        printed = program.communicate()[0]
        self.assertEqual(program.returncode, 0)
        self.assert_counted(pmcd, json.loads(printed))
