# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests to servers of Debian, counted by the agent, against the application's own log; and their traces."""

import http.client
import json
import os
import pathlib
import re
import shlex
import socket
import subprocess
import tempfile

import recorded
from page_blocks import blocks
from private_pmcd import PATIENCE_S, completed
from python_test import PythonTestCase, python, traced
from trace_test import library_environment

INTERPRETER = ("/usr/bin/python3", "-B")  # Debian's Python, for which Debian has the servers
GUNICORN = (*INTERPRETER, "-m", "gunicorn", "--bind=fd://{}", "--workers=4", "--log-level=critical")
FLASK = "flask_application:application"
UVICORN = (*INTERPRETER, "-m", "uvicorn", "--fd={}", "--log-level=critical", "asgi_application:application")
PAGE = pathlib.Path(__file__).parents[2] / "libtrace/docs/getting-started.md"


class ServersTestCase(PythonTestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory(prefix="trace-python-"))
        self.log = os.path.join(self.directory, "log")

    def served(self, how, *server):
        return python("servers.py", how, self.log, *server)


class Middleware(PythonTestCase):
    def test_wsgi(self):
        self.check_counts(*python("wsgi.py"))

    def test_asgi(self):
        self.check_counts(*python("asgi.py"), PCP_TRACE_FLUSH=60_000)

    def test_clients_pass_the_trace_on(self):
        self.run_python(self.nowhere(), *INTERPRETER, *python("clients.py", PAGE)[-2:])

    def test_does_nothing_without_the_library(self):
        self.library = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "libpcp_trace.so.2")
        with open(self.library, "wb"):  # the loader stops here
            pass
        for program in ("wsgi.py", "asgi.py"):
            self.run_python(self.nowhere(PCP_TRACE_NOAGENT=1), *python(program, "unloaded"))


class Gunicorn(ServersTestCase):
    def check(self, how, *options):
        pmcd = self.check_counts(*self.served(how, *GUNICORN, *options, FLASK), PCP_TRACE_FLUSH=60_000,
                                 PCP_TRACE_SERVICE="shop")
        self.assertIn('"route":"/item/:number"', pmcd.pminfo("-l", "trace.transact.count"))

    def test_prefork_workers(self):
        self.check("counts")
        self.check("counts", "--preload")

    def test_threads(self):
        self.check("counts", "--worker-class=gthread", "--threads=4")

    def test_workers_that_are_recycled(self):
        self.check("counts", "--max-requests=15", "--max-requests-jitter=5")

    def test_workers_that_are_terminated(self):
        self.check("terminated")

    def test_a_killed_worker_loses_what_it_had_not_handed_over(self):
        pmcd = self.start_pmcd()
        printed = self.run_python(traced(self.environment(pmcd)), *self.served("killed", *GUNICORN, FLASK))
        expected, victim = map(json.loads, printed.splitlines())
        self.assertGreater(victim["acknowledged"], 0)
        lost = 0
        for metric, values in expected.items():
            counted = pmcd.values(f"trace.{metric}")
            for tag, count in values.items():
                self.assertLessEqual(counted.get(tag, 0), count)
                lost += count - counted.get(tag, 0)
        self.assertLessEqual(lost, victim["calls"] - victim["acknowledged"])


class Uvicorn(ServersTestCase):
    def test_counts(self):
        self.check_counts(*self.served("counts", *UVICORN), PCP_TRACE_FLUSH=60_000)

    def test_workers(self):
        self.check_counts(*self.served("counts", *UVICORN, "--workers=2"), PCP_TRACE_FLUSH=60_000)


class Recipes(ServersTestCase):
    """Those of getting-started.md, as they stand there."""

    def check(self, name, **variables):
        """Serves with a program of the page, and asks it once; `variables` tell the server its socket."""
        page = PAGE.read_text(encoding="utf-8")
        (program,) = (text for kind, text in blocks(page) if kind == f"python {name}")
        (command,) = re.findall(rf"^    (PCP_TRACE_SERVICE=shop {name} .*)$", page, re.MULTILINE)
        pathlib.Path(self.directory, "shop.py").write_text(program, encoding="utf-8")
        pmcd = self.start_pmcd()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            environment = traced(self.environment(pmcd), **{
                name: value.format(listener.fileno()) for name, value in variables.items()})
            with subprocess.Popen(["env", *shlex.split(command)], cwd=self.directory, env=environment,
                                  pass_fds=[listener.fileno()]) as server:
                try:
                    connection = http.client.HTTPConnection(*listener.getsockname(), timeout=PATIENCE_S)
                    connection.request("GET", "/item/7")
                    self.assertEqual(connection.getresponse().status, 200)
                    connection.close()
                    expected = {"request{method=GET;route=/item/:number;status=200}": 1}
                    self.assertEqual(pmcd.wait_for("trace.transact.count", expected), expected)
                finally:
                    server.terminate()

    def test_gunicorn(self):
        self.check("gunicorn", GUNICORN_CMD_ARGS="--bind=fd://{} --log-level=critical")

    def test_uvicorn(self):
        self.check("uvicorn", UVICORN_FD="{}", UVICORN_LOG_LEVEL="critical")


class Traces(ServersTestCase):
    def spans(self, *program):
        """Gives the spans of a recording, each with its trace."""
        folder = os.path.join(self.directory, "run.trace")
        done = recorded.record(folder, *program, options=["--spans", "tag=*"],
                               environment=traced(library_environment(self.library)))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        shown = completed(recorded.COMMAND, "spans", "-a", folder, "--json", check=True, timeout=4 * PATIENCE_S).stdout
        return [(trace["trace"], span) for trace in map(json.loads, shown.splitlines()) for span in trace["spans"]]

    def check(self, *server):
        """The client's header is the request's parent, which the application's own request takes along."""
        spans = [[span["tag"].partition("{")[0], trace, span["span"], span["parent"]]
                 for trace, span in self.spans(*self.served("asks", *server))]
        with open(self.log, encoding="ascii") as log:
            self.assertEqual(sorted(spans), json.load(log))

    def test_gunicorn(self):
        self.check(*GUNICORN, FLASK)

    def test_uvicorn(self):
        self.check(*UVICORN)

    def test_flask_tells_routes_and_exceptions(self):
        route = "request{method=GET;route=/fail/:how"
        self.assertEqual({(span["tag"], span["reason"]) for _, span in self.spans(*python("flask_failures.py"))},
                         {(route + ";status=500}", "ValueError: planted"), (route + "}", "SystemExit: 1")})
