# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views of trace.* on a whole machine: each is linked where its tool looks, and taken back without a trace."""

import os

import installed
from system_test import SystemTestCase

setUpModule = installed.set_up

TAKEN = "/etc/pcp/pmrep/trace.conf"
# Also below /var/lib/pcp/config.
LINKED_TWICE = ("pmchart", "pmieconf", "pmlogconf")
IN_A_FOLDER = ("pmieconf", "pmlogconf")


class Views(SystemTestCase):
    def setUp(self):
        super().setUp()
        self.machine.run("mkdir -p /etc/pcp/pmchart /var/lib/pcp/config/pmchart")  # of Debian's pcp-gui
        self.assertEqual(self.views(), {})

    def expected(self, prefix=None):
        """Gives {place: file} of all views."""
        views = os.path.join(self.agent(), "views")
        shown = views.replace(installed.prefix, prefix or installed.prefix)
        places = {}
        for tool in os.listdir(views):
            folders = [f"/etc/pcp/{tool}"] + [f"/var/lib/pcp/config/{tool}"] * (tool in LINKED_TWICE)
            if tool in IN_A_FOLDER:
                folders = [f"{folder}/trace" for folder in folders]
                places |= dict.fromkeys(folders, "/")
            places |= {f"{folder}/{name}": f"{shown}/{tool}/{name}"
                       for folder in folders for name in os.listdir(os.path.join(views, tool))}
        return places

    def test_come_with_the_agent_and_go_with_it(self):
        self.must(self.install())
        self.assertEqual(self.views(), self.expected())
        self.must(self.install())
        self.assertEqual(self.views(), self.expected())
        self.remove()
        self.assertEqual(self.views(), {})

    def test_come_and_go_with_the_whole_machine(self):
        self.must(self.switch("on"))
        self.assertEqual(self.views(), self.expected())
        self.must(f"rm {TAKEN}")
        self.must(self.switch("renew"))
        self.assertEqual(self.views(), self.expected())
        self.must(self.switch("off"))
        self.assertEqual(self.views(), {})

    def test_leave_somebody_elses_file(self):
        for make in ("echo mine >", "ln -s /nowhere/mine ", "ln -s /etc/passwd "):
            self.must(make + TAKEN)
            kept = self.must(f"ls -l {TAKEN}")
            self.assertIn(f"{TAKEN} is somebody else's, and stays.", self.must(self.install()))
            expected = self.expected()
            del expected[TAKEN]
            self.assertEqual(self.views(), expected)
            self.remove()
            self.assertEqual(self.must(f"ls -l {TAKEN}"), kept)
            self.assertEqual(self.views(), {})
            self.must(f"rm {TAKEN}")

    def test_leave_what_somebody_else_has_made_of_the_folder(self):
        self.must("touch /var/lib/pcp/config/pmieconf/trace")
        self.assertIn("/var/lib/pcp/config/pmieconf/trace is somebody else's, and stays.", self.must(self.install()))
        self.assertEqual(self.views(), {place: view for place, view in self.expected().items()
                                        if not place.startswith("/var/lib/pcp/config/pmieconf/trace")})

    def test_leave_somebody_elses_links_to_them(self):
        own = "/etc/pcp/pmrep/own.conf"
        self.must(self.install())
        self.must(f"ln -s $(readlink {TAKEN}) {own}")
        self.remove()
        self.assertEqual(list(self.views()), [own])

    def test_of_the_other_one_of_ours_come_back(self):
        self.must(f"cp -r {installed.prefix} /run/other")
        self.must(self.install(directory=self.agent().replace(installed.prefix, "/run/other")))
        self.assertEqual(self.views(), self.expected("/run/other"))
        self.must(self.switch("on"))
        self.assertEqual(self.views(), self.expected())
        self.must(self.switch("off"))
        self.assertEqual(self.views(), self.expected("/run/other"))

    def test_of_a_package_stay_until_the_package_goes(self):
        mark = f"{self.agent()}/views/linked-by-package"
        expected = self.expected()
        self.must(f"touch {mark}")
        self.addCleanup(os.remove, mark)
        self.must(self.install())
        self.remove()
        self.assertEqual(self.views(), expected)
        self.must(f". /etc/pcp.env; . {self.agent()}/views.sh; unlink_views {self.agent()}")
        self.assertEqual(self.views(), {})

    def test_need_their_tools(self):
        self.must("rm -r /etc/pcp/pmchart /var/lib/pcp/config/pmchart /etc/pcp/dstat")
        self.must(self.install())
        self.assertEqual(self.views(), {place: view for place, view in self.expected().items()
                                        if "/pmchart/" not in place and "/dstat/" not in place})

    def test_say_nothing_where_nothing_is_traced(self):
        self.machine.start_pmcd()
        silent = {command: self.run_script(command) for command in ("pminfo", "pminfo trace", "pmprobe -v trace.transact")}
        self.must("cd /run && echo 'log mandatory on 1 second { pmcd.version }' >conf && pmlogger -c conf -s 1 plain")
        plain = {f"{tool} -a /run/plain": self.run_script(f"{tool} -a /run/plain") for tool in ("pminfo", "pmdumplog", "pmprobe")}
        self.must(f". /etc/pcp.env; . {self.agent()}/views.sh; link_views {self.agent()}")
        self.assertIn(TAKEN, self.views())
        self.assertEqual({command: self.run_script(command) for command in silent}, silent)
        self.assertEqual({command: self.run_script(command) for command in plain}, plain)
