# SPDX-License-Identifier: LGPL-2.1-or-later
"""PCP's own pmlogger, which logs a private pmcd until it is told to end."""

import subprocess

from private_pmcd import PATIENCE_S, pcp_configuration


class Pmlogger:
    def __init__(self, pmcd, archive, metrics="trace", unix=False, every="100 msec", configuration=None):
        """Starts to log these metrics, with all instances; or what a configuration's text says."""
        with open(archive + ".conf", "w", encoding="utf-8") as file:
            file.write(configuration or f"log mandatory on {every} {{ {metrics} }}\n")
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", f"{pcp_configuration()['PCP_BINADM_DIR']}/pmlogger",
             "-h", pmcd.host(unix), "-c", archive + ".conf", "-u", "-l", archive + ".log", archive],
            env=pmcd.pcp_environment() | {"PMLOGGER_LOCAL": "1"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self):
        """Lets it finish its archive, if it still runs."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait(PATIENCE_S)
