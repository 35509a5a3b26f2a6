# SPDX-License-Identifier: LGPL-2.1-or-later
"""The notes that a monitor sees of a captured transaction: the programs of all languages make the
same."""


from event_monitor import END, EventMonitor
from private_pmcd import PATIENCE_S, completed, wait_until

LINKED = "0af7651916cd43dd8448eb211c80319c"
KEY = "k" * 128
NOTED = {"tag": "request", "status": "aborted", "reason": "declined", "missing": None,
         "attributes": f"route=/käse rows=12.5 bytes=4096 {KEY}=yes long={'v' * 4096} wanted=chosen"}


def failed_span(pmcd, *command, environment):
    """Runs a program while a monitor captures its requests; the program waits for the capture. Gives
    the span that failed, and the program's output."""
    failed = []

    def has_failed():
        failed.extend(event.parameters for event in monitor.events() or ()
                      if event.flags & END and event.parameters["status"] == "aborted")
        return failed

    with EventMonitor(pmcd.host(True)) as monitor:
        monitor.want("tag=request")
        printed = completed(*command, env=environment, timeout=2 * PATIENCE_S)
        assert printed.returncode == 0, printed
        wait_until(has_failed, what="the transaction that fails")
    return failed[0], printed.stdout + printed.stderr


def assert_noted(test, pmcd, *command, environment, tag="request"):
    """Checks the notes of a program that makes those that all languages make, and ends under this tag."""
    span, printed = failed_span(pmcd, *command, environment=environment)
    test.assertEqual(printed, "")
    test.assertEqual({name: span.get(name) for name in NOTED}, NOTED | {"tag": tag})
    test.assertIn(LINKED, span.get("links", ""))
