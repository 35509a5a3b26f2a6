# SPDX-License-Identifier: LGPL-2.1-or-later
"""Install on a whole machine: it succeeds if the agent answers, and else leaves all as it was."""

import os
import unittest

import installed
from installed import find
from system_test import SystemTestCase

setUpModule = installed.set_up


class Install(SystemTestCase):
    def test_an_agent_that_cannot_start_is_not_registered(self):
        self.machine.start_pmcd()
        self.keep_port_busy(4323)
        before = self.state()
        status, said = self.run_script(self.install())
        self.assertEqual(status, 1, said)
        self.assertIn("Error: bind(4323): Address already in use", said)
        self.assertIn("no trace agent registered", said)
        self.assertEqual(self.state(), before)

    def test_the_agent_from_before_comes_back(self):
        self.machine.start_pmcd()
        self.assertIn("The agent answers", self.must(self.install_on_port(5000)))
        before = self.state()
        for answers, why in ((["n", "", "", "99999"], "-I: "),
                             (["n", "", "", "", "", "", "a", "no.such.host.invalid", ""], "-A: ")):
            status, said = self.run_script(self.install(*answers))
            self.assertEqual(status, 1, said)
            self.assertRegex(said, r"The end of /var/log/pcp/pmcd/trace.log:\n(.*\n)*.* Error: " +
                             why)
            self.assertIn("runs again, as before", said)
            self.assertEqual(self.state(), before)
            self.assertEqual(self.value("trace.control.port"), ["5000"])

    def installed_in(self, place):
        """Gives the agent's directory, a copy."""
        self.machine.run(f"mkdir -p '{place}/pmdas' &&"
                         f" cp -r {os.path.dirname(find('pmdatrace'))} '{place}/pmdas/trace'")
        return f"'{place}/pmdas/trace'"

    def test_says_what_pmcd_says_of_an_agent_that_never_ran(self):
        self.machine.start_pmcd()
        directory = self.installed_in("/run/broken")
        self.machine.run(f"ln -sf /bin/false {directory}/pmdatrace")
        status, said = self.run_script(self.install(directory=directory))
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"pmcd.log says of it:\n(.*\n)*.*trace")

    def test_a_directory_with_blanks_is_refused(self):
        status, said = self.run_script(self.install(directory=self.installed_in("/run/an agent")))
        self.assertEqual(status, 1, said)
        self.assertIn("whose name has blanks", said)

    def test_an_interruption_changes_nothing(self):
        self.machine.start_pmcd()
        self.machine.run(f"setsid sh -c \"{self.install()}\" >/dev/null 2>&1 & sleep 1;"
                         " kill -INT -- -$!; wait")
        self.assertEqual(self.value("trace.control.port"), ["4323"])

    def test_without_pmcd_it_is_registered_and_says_so(self):
        said = self.must(self.install())
        self.assertIn("could not be checked", said)
        self.assertNotIn("The agent answers", said)
        self.assertIn("could not be checked", self.must(self.install_on_port(5000)))
        self.machine.start_pmcd()
        self.assertEqual(self.value("trace.control.port"), ["5000"])
        self.assertEqual(len(self.value("trace.agent.uptime")), 1)


if __name__ == "__main__":
    unittest.main()
