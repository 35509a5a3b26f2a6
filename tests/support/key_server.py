# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private redis-server, or a cluster of several, which keeps all in memory. Debian's redis-tools has the program
under another name, so that no service is installed."""

import contextlib
import os
import shutil
import subprocess

from private_pmcd import ReservedPort, completed, wait_until


class KeyServer:
    """Started on entering, and ended on leaving. `nodes`: more than one are a cluster. `ports` are those of all."""

    def __init__(self, directory, nodes=1):
        self._directory = directory
        self._nodes = nodes

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.ports = [self._start(stack) for _ in range(self._nodes)]
            wait_until(lambda: all(self.ask(port, "ping") == "PONG\n" for port in self.ports), what="the key server")
            if self._nodes > 1:
                self.ask(self.ports[0], "--cluster", "create", *(f"127.0.0.1:{port}" for port in self.ports),
                         "--cluster-yes")
                wait_until(lambda: all("cluster_state:ok" in self.ask(port, "cluster", "info") for port in self.ports),
                           what="the cluster")
            self._stack = stack.pop_all()
        return self

    def _start(self, stack):
        port, bus = (stack.enter_context(ReservedPort()).number for _ in range(2))
        cluster = ["--cluster-enabled", "yes", "--cluster-port", str(bus)] if self._nodes > 1 else []
        directory = f"{self._directory}/keys-{port}"
        os.mkdir(directory)
        os.symlink(shutil.which("redis-check-rdb"), f"{directory}/redis-server")
        # setpriv ends the server if this process is killed.
        server = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", f"{directory}/redis-server", "--port", str(port), "--bind", "127.0.0.1",
             "--save", "", "--dir", directory, *cluster], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(server.wait)
        stack.callback(server.kill)
        return port

    @staticmethod
    def ask(port, *words):
        return completed("redis-cli", "-p", str(port), *words).stdout

    def __exit__(self, *exception):
        self._stack.close()
