# SPDX-License-Identifier: LGPL-2.1-or-later
"""An LTTng session that records the benchmark's event, as its users would."""

import contextlib
import os
import subprocess
import tempfile
import uuid

from private_pmcd import wait_until


def _lttng(*arguments, check=True):
    return subprocess.run(["lttng", "--no-sessiond", *arguments], check=check,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


def _daemon_answers():
    return _lttng("list", check=False).returncode == 0


@contextlib.contextmanager
def _daemon():
    """The running session daemon, or one of our own while this lasts."""
    if _daemon_answers():
        yield
        return
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(_daemon_answers, what="LTTng's session daemon")
        yield
    finally:
        daemon.terminate()
        daemon.wait()


@contextlib.contextmanager
def session(event):
    """Records the event of all programs into a temporary directory."""
    name = f"pcp-trace-bench-{uuid.uuid4().hex}"
    with tempfile.TemporaryDirectory(prefix="trace-bench-") as directory, _daemon():
        _lttng("create", name, f"--output={os.path.join(directory, 'trace')}")
        try:
            _lttng("enable-event", "--userspace", f"--session={name}", event)
            _lttng("start", name)
            yield
        finally:
            _lttng("destroy", name)
