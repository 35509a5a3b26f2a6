# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private pmproxy, which answers clients of its HTTP port with values of a private pmcd."""

import http.client
import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from private_pmcd import PATIENCE_S, ReservedPort, pcp_configuration, wait_until


class Pmproxy:
    """Started on entering, and ended on leaving."""

    def __init__(self, pmcd):
        self._pmcd = pmcd

    def __enter__(self):
        self._port = ReservedPort()
        with open(self._pmcd.path("pmproxy.conf"), "w", encoding="utf-8") as file:
            file.write("[pmproxy]\nredis.enabled = false\n[redis]\nenabled = false\n")
        self._proxy = subprocess.Popen(
            [f"{pcp_configuration()['PCP_BINADM_DIR']}/pmproxy", "-f", "-A", "-t",
             "-i", "127.0.0.1", "-p", str(self._port.number),
             "-s", self._pmcd.path("run/proxy.socket"), "-c", self._pmcd.path("pmproxy.conf"),
             "-l", self._pmcd.path("log/pmproxy.log")],
            env=os.environ | {"PCP_RUN_DIR": self._pmcd.path("run")}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: self.ask("context"), what="pmproxy")
        return self

    def __exit__(self, *exception):
        self._proxy.kill()
        self._proxy.wait()
        self._port.close()

    def ask(self, what, **parameters):
        """Gives its answer about this pmcd, None if there is none."""
        return self._get(f"pmapi/{what}", parameters)

    def scrape(self, **parameters):
        """Gives what Prometheus gets of this pmcd."""
        return self._get("metrics", parameters)

    def _get(self, path, parameters):
        query = urllib.parse.urlencode({"hostspec": self._pmcd.host(unix=True), **parameters})
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port.number}/{path}?{query}",
                                        timeout=PATIENCE_S) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.read().decode()
        except http.client.IncompleteRead as answer:  # pmproxy 6.0.3 ends no answer above 4 KiB correctly
            return answer.partial.decode()
        except urllib.error.URLError:
            return None
