# SPDX-License-Identifier: LGPL-2.1-or-later
"""The functions for shell scripts, in dash and in bash: a traced command does all that it does untraced."""

import os
import re
import signal
import subprocess
import tempfile
import unittest

from trace_test import OUR_LIBRARY, OUR_PMTRACE, library_environment

HERE = os.path.dirname(OUR_PMTRACE)
SCRIPT = """set -eu
. %s/pcp-trace.sh
f() { echo "function $1"; set=in-the-script; return 3; }
while getopts ab option -a -b; do
    traced -L target=all -s option env printf '%%s|' "a  b" "it's" '$HOME' -j4 '' "$option"
done
echo hello | traced cat cat
traced killed sh -c 'kill -TERM $$' || echo $?
traced nosuch nosuchprogram || echo $?
traced function f x || echo $? $set
traced function f y || echo $?
traced only || echo $?
traced fails env false
echo not reached
""" % HERE
PRINTED = ["a  b|it's|$HOME|-j4||a|a  b|it's|$HOME|-j4||b|hello", "143", "127", "function x", "3 in-the-script", "function y", "3",
           "2"]


class Traced(unittest.TestCase):
    def result_of(self, shell, script, path, *arguments):
        environment = library_environment(OUR_LIBRARY, PCP_TRACE_NOAGENT="1", PCP_TRACE_DEBUG="api",
                                          PATH=f"{path}/usr/bin:/bin")
        return subprocess.run([shell, "-c", script, shell, *arguments], env=environment, capture_output=True, text=True,
                              timeout=60, check=False)

    def run_script(self, shell, path):
        done = self.result_of(shell, SCRIPT, path)
        self.assertEqual((done.returncode, done.stdout.splitlines()), (1, PRINTED), done.stderr)
        return done.stderr

    def test_commands_are_transactions(self):
        for shell in ("dash", "bash"):
            said = self.run_script(shell, f"{HERE}:")
            self.assertEqual(re.findall(r'(transaction|abort) "(.*?)"', said), [
                *[("transaction", "option{status=0;target=all}")] * 2, ("transaction", "cat"), ("abort", "killed"),
                ("abort", "nosuch"), ("abort", "fails")])
            self.assertEqual(said.count("functions and builtins of the shell run untraced: f"), 1)

    def test_commands_run_untraced_where_there_is_only_another_pmtrace_and_that_is_said_once(self):
        for shell in ("dash", "bash"):
            said = self.run_script(shell, "")
            self.assertNotIn("transaction", said)
            self.assertEqual(re.findall("^pcp-trace.sh: .*$", said, re.MULTILINE), [
                "pcp-trace.sh: pcp-trace's pmtrace is not here: commands run untraced"])

    def test_a_script_ends_as_ever_after_ctrl_c(self):
        script = ". pcp-trace.sh; traced step sh -c 'kill -INT \"$1\" $$' sh $$; echo went on"
        for shell in ("dash", "bash"):
            done = self.result_of(shell, script, f"{HERE}:")
            self.assertEqual((done.returncode, done.stdout), (-signal.SIGINT, ""), shell)

    def test_builtins_run_in_the_scripts_shell(self):
        script = """set -eu; . pcp-trace.sh; IFS=0123456789; cd /
            traced tag read REPLY <<END; echo "$REPLY"; traced tag :; traced tag wait
line
END
            traced tag cd /usr; traced tag umask 027; traced tag export exported=yes; traced -q tag pwd; traced tag umask
            traced tag . /dev/null; traced tag type cd >&2; traced tag ulimit -n >&2; sh -c 'echo $exported'
            false() { echo mine; }; traced tag false; traced tag test 1 = 1; traced tag printf '%s\\n' "a  b"
            false() { traced tag return 3; }; false || echo "$?"; traced tag exit 4"""
        for shell in ("dash", "bash"):
            done = self.result_of(shell, script, f"{HERE}:")
            self.assertEqual((done.returncode, done.stdout.splitlines()), (
                4, ["line", "/usr", "0027", "yes", "mine", "a  b", "3"]), done.stderr)
            self.assertEqual(re.findall("^pcp-trace.sh: .*$|Illegal", done.stderr, re.MULTILINE), [
                "pcp-trace.sh: functions and builtins of the shell run untraced: read"])

    def test_builtins_do_what_they_do_untraced(self):
        script = """set -eu; . "$2/pcp-trace.sh"; cd "$1"; alias pwd=ls
            TRACED echo 'a\\tb'; TRACED pwd; TRACED test 1 = 2 || echo "$?"
            [ -z "${BASH-}" ] || { tail -f /dev/null --pid=$$ & TRACED kill %1 || echo "no job"
                TRACED printf -v name x; TRACED [ -v name ] && echo "$name"; }"""
        with tempfile.TemporaryDirectory() as directory:
            os.symlink("/usr", f"{directory}/link")
            for shell in ("dash", "bash"):
                untraced, *traced = (self.result_of(shell, script.replace("TRACED", prefix), path, f"{directory}/link", HERE)
                                     for prefix, path in (("command", ""), ("traced tag", ""), ("traced tag", f"{HERE}:")))
                self.assertRegex(untraced.stdout, r"/link\n1\n(x\n)?$")
                for done in traced:
                    self.assertEqual((done.returncode, done.stdout), (0, untraced.stdout), done.stderr)

    def test_a_wrong_option_runs_nothing(self):
        for shell in ("dash", "bash"):
            for options in ("-Z", "-q -e"):
                for path in ("", f"{HERE}:"):
                    done = self.result_of(shell, f". {HERE}/pcp-trace.sh; traced {options} tag env echo no", path)
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)

    def test_a_command_runs_untraced_if_its_tag_or_a_label_is_invalid(self):
        for arguments in (("",), ("t" * 255,), ("-L", "A B", "tag"), ("-L", "A=B", "tag"), ("-LA", "-LB", "")):
            done = subprocess.run([OUR_PMTRACE, "--run", "-qx", *arguments, "sh", "-c", "echo runs; exit 3"],
                                  env=library_environment(OUR_LIBRARY), capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("not traced")), (3, "runs\n", 1), done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_a_script_need_not_hear_that_there_is_no_agent(self):
        environment = library_environment(OUR_LIBRARY, PCP_TRACE_HOST="127.0.0.1", PCP_TRACE_PORT="1")
        for option, said in (("-q", ""), ("-f", "pmtrace: transaction begin error: Connection refused\n")):
            done = subprocess.run([OUR_PMTRACE, "--run", "-x", option, "tag", "true"], env=environment, capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (1, said))

    def test_a_command_gets_its_words_and_the_environment_as_they_are(self):
        def run(*words, **variables):
            environment = library_environment(OUR_LIBRARY, PCP_TRACE_NOAGENT="1", **variables)
            done = subprocess.run([OUR_PMTRACE, "--run", "-q", "tag", *words], env=environment, capture_output=True, text=True,
                                  timeout=60, check=False)
            return done.returncode, done.stdout, done.stderr

        odd = {"a.b": "1", "BASH_FUNC_f%%": "() { echo f; }"}
        self.assertEqual(run("bash", "-c", "f; exec env", **odd)[1].splitlines()[0], "f")
        self.assertIn("a.b=1\n", run("env", **odd)[1])
        with tempfile.TemporaryDirectory() as directory:
            script = os.path.join(directory, "script")
            with open(script, "w", encoding="utf-8") as file:
                file.write("echo $1\n")
            self.assertEqual(run(script), (126, "", f"pmtrace: {script}: Permission denied\n"))
            os.chmod(script, 0o755)
            self.assertEqual(run(script, "a  $b"), (0, "a $b\n", ""))
        self.assertEqual(run("nosuch"), (127, "", "pmtrace: nosuch: No such file or directory\n"))
