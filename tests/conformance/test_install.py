# SPDX-License-Identifier: LGPL-2.1-or-later
"""Install, driven by a script: the same answers give the agent the same options, stock's and ours.

A stub replaces pmdaproc.sh, which all Install scripts share: it installs nothing and prints the options.
"""

import os
import tempfile

from private_pmcd import completed
from trace_test import OUR_AGENT, STOCK_AGENT, TraceTestCase, with_each_agent

PMDAPROC = """
PMNSDIR=$PCP_SHARE_DIR
NAMESPACE=$PMNSDIR/root
pmdaSetup() { :; }
pmdaInstall() { printf '\\nOPTIONS: %s\\n' "$args"; exit 0; }
"""

NO_UNITS = "y\n"


class InstallTestCase(TraceTestCase):
    def run_script(self, script, *arguments, answers=""):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(f"{root}/etc")
            os.makedirs(f"{root}/lib")
            os.makedirs(f"{root}/empty")  # else stock's echo expands a host's * to file names
            with open(f"{root}/etc/pcp.env", "w", encoding="utf-8") as file:
                file.write(f"PCP_SHARE_DIR={root} PCP_ECHO_PROG=echo PCP_ECHO_N=-n PCP_ECHO_C=\n"
                           f"PCP_TMPFILE_DIR={root} PCP_PMCDCONF_PATH={root}/pmcd.conf\n")
            for name in ("root", "pmcd.conf"):
                open(f"{root}/{name}", "w", encoding="utf-8").close()
            with open(f"{root}/lib/pmdaproc.sh", "w", encoding="utf-8") as file:
                file.write(PMDAPROC)
            path = os.path.join(os.path.dirname(self.agent.namespace), script)
            return completed("/bin/sh", path, *arguments, input=answers, env={"PATH": "/usr/bin:/bin", "PCP_DIR": root},
                             cwd=f"{root}/empty")

    def install(self, answers):
        """Gives the options that Install would run the agent with."""
        done = self.run_script("Install", answers=answers)
        self.assertEqual(done.returncode, 0, done)
        [options] = [line for line in done.stdout.splitlines() if line.startswith("OPTIONS:")]
        return options.split()[1:]


@with_each_agent
class Install(InstallTestCase):
    def test_takes_the_defaults_unless_they_are_refused(self):
        for answers in ("", "\n", "yes\n30\n"):
            self.assertEqual(self.install(answers), [], answers)

    def test_asks_for_period_buckets_and_port(self):
        for no in ("n", "N", "no", "No", "NO"):
            self.assertEqual(self.install(f"{no}\n30\n6\n4444\n" + NO_UNITS * 2 + "\n"),
                             ["-T", "30", "-N", "6", "-I", "4444"])

    def test_leaves_out_what_is_answered_with_nothing(self):
        self.assertEqual(self.install("n\n\n6\n\n" + NO_UNITS * 2 + "\n"), ["-N", "6"])

    def test_asks_for_the_scale_of_each_dimension_that_is_not_zero(self):
        for answers, options in (("n\n1 -1 0\n1\n3\n" + NO_UNITS, ["-U", "1,-1,0,1,3,0"]),
                                 (NO_UNITS + "n\n0 0 1\n6\n", ["-V", "0,0,1,0,0,6"]),
                                 ("n\n0 0 0\nn\n0 1 -1\n2\n0\n", ["-U", "0,0,0,0,0,0", "-V", "0,1,-1,0,2,0"])):
            self.assertEqual(self.install(f"n\n\n\n\n{answers}\n"), options)

    def test_asks_again_until_an_answer_is_valid(self):
        dimensions, space, time = "x y z\n1 q 0\n1 1 0\n", "7\n-1\nwide\n2\n", "6\nlong\n3\n"
        self.assertEqual(self.install("n\n\n\n\nn\n" + dimensions + space + time + NO_UNITS + "\n"),
                         ["-U", "1,1,0,2,3,0"])

    def test_asks_for_access_rules_until_an_empty_line(self):
        rules = "a\n10.0.0.1\n5\nAllow\n10.0.0.2\n\nd\n10.0.*\nmaybe\nd\n\n\n"
        self.assertEqual(self.install("n\n\n\n\n" + NO_UNITS * 2 + rules),
                         ["-A", "allow:10.0.0.1:5", "-A", "allow:10.0.0.2:0",
                          "-A", "disallow:10.0.*"])


class OursAlone(InstallTestCase):
    agent = OUR_AGENT

    def test_asks_again_after_a_wrong_answer(self):
        wrong = "maybe\nn\nsoon\n30\n0\n6\nhere\n4444\nperhaps\n" + NO_UNITS * 2 + "x\na\nhost\nmany\n5\n\n"
        self.assertEqual(self.install(wrong), ["-T", "30", "-N", "6", "-I", "4444", "-A", "allow:host:5"])

    def test_needs_no_log_of_pmcd(self):
        self.assertEqual(self.run_script("Install").stderr, "")


class Arguments(InstallTestCase):
    agent = OUR_AGENT

    def test_of_help_only_print_the_usage(self):
        for script in ("Install", "Remove"):
            for argument in ("-h", "--help"):
                done = self.run_script(script, argument)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done)
                self.assertRegex(done.stdout, rf"\AUsage: .*/{script} \[-eQV\] .*\n(.*\n)+\Z")
                self.assertNotIn("OPTIONS", done.stdout)

    def test_are_otherwise_refused(self):
        for script in ("Install", "Remove"):
            for arguments in (["-x"], ["5000"], [""], ["--help", "me"], ["--register"], ["-n"]):
                done = self.run_script(script, *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done)
                self.assertRegex(done.stderr, rf"\AUsage: .*/{script} \[-eQV\] ")

    def test_may_be_those_of_every_pmda(self):
        done = self.run_script("Install", "-e", "-Q", "-V", "-n", "/names", "-R", "/")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("OPTIONS", done.stdout)
        self.assertEqual(self.run_script("Remove", "-R", "/").returncode, 2)


class Both(InstallTestCase):
    def test_understand_every_answer_alike(self):
        answers = "n\n120\n24\n5000\nn\n1 0 0\n0\nn\n0 1 1\n\n\na\nhost.example\n\nD\n*\n\n"
        options = []
        for self.agent in (STOCK_AGENT, OUR_AGENT):
            options.append(self.install(answers))
        self.assertEqual(options[0], options[1])
        self.assertEqual(options[0][-4:], ["-A", "allow:host.example:0", "-A", "disallow:*"])
