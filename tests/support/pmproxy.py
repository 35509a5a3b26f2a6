# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private pmproxy, which answers clients of its HTTP port with values of a private pmcd, and from a key server, if a
test has one."""

import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from private_pmcd import PATIENCE_S, ReservedPort, pcp_configuration, wait_until


class Pmproxy:
    """Started on entering, and ended on leaving. `key_ports`: those of a key server. pmproxy hands it what
    pmloggers write below the directory `archives` of the pmcd."""

    def __init__(self, pmcd, key_ports=()):
        self._pmcd = pmcd
        self._key_ports = key_ports

    def __enter__(self):
        self._port = ReservedPort()
        has_server = str(bool(self._key_ports)).lower()
        servers = f"servers = {','.join(f'127.0.0.1:{port}' for port in self._key_ports)}\n"
        with open(self._pmcd.path("pmproxy.conf"), "w", encoding="utf-8") as file:
            # pmproxy 6.0.3 sends one chunk only to a client that does not keep the connection, as Python's.
            file.write(f"[pmproxy]\nredis.enabled = {has_server}\nchunksize = 16777216\n"
                       f"[redis]\nenabled = {has_server}\n{servers}[pmseries]\nenabled = {has_server}\n{servers}"
                       f"[discover]\nenabled = {has_server}\n")
        self._proxy = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", f"{pcp_configuration()['PCP_BINADM_DIR']}/pmproxy", "-f", "-A", "-t",
             "-i", "127.0.0.1", "-p", str(self._port.number),
             "-s", self._pmcd.path("run/proxy.socket"), "-c", self._pmcd.path("pmproxy.conf"),
             "-l", self._pmcd.path("log/pmproxy.log")],
            env=os.environ | {"PCP_RUN_DIR": self._pmcd.path("run"), "PCP_LOG_DIR": self._pmcd.directory,
                              "PCP_ARCHIVE_DIR": self._pmcd.path("archives")},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self._proxy.pid
        wait_until(lambda: self.ask("context"), what="pmproxy")
        return self

    def __exit__(self, *exception):
        self._proxy.kill()
        self._proxy.wait()
        self._port.close()

    def address(self, path, **parameters):
        """Gives the URL of a request about this pmcd."""
        query = urllib.parse.urlencode({"hostspec": self._pmcd.host(unix=True), **parameters})
        return f"http://127.0.0.1:{self._port.number}/{path}?{query}"

    def ask(self, what, **parameters):
        """Gives pmapi's answer about this pmcd, None if there is none."""
        return self.get(f"pmapi/{what}", **parameters)

    def get(self, path, **parameters):
        """The same for any path."""
        try:
            with urllib.request.urlopen(self.address(path, **parameters), timeout=PATIENCE_S) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.read().decode()
        except urllib.error.URLError:
            return None
