# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private redis-server, which keeps all in memory. Debian's redis-tools has the program under another name, so that no
service is installed."""

import shutil
import subprocess

from private_pmcd import ReservedPort, wait_until


class KeyServer:
    """Started on entering, and ended on leaving."""

    def __init__(self, directory):
        self._directory = directory

    def __enter__(self):
        self._port = ReservedPort()
        self.port = self._port.number
        self._server = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self._directory],
            executable=shutil.which("redis-check-rdb"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers, what="the key server")
        return self

    def _answers(self):
        return subprocess.run(["redis-cli", "-p", str(self.port), "ping"], capture_output=True,
                              check=False).stdout == b"PONG\n"

    def __exit__(self, *exception):
        self._server.kill()
        self._server.wait()
        self._port.close()
