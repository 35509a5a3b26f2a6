"""Install on a whole machine: it succeeds if the agent answers, and else leaves all as it was."""

import unittest

import installed
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
