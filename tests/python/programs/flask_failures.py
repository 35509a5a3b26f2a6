# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests that fail in a Flask application; the second one as in a worker that gunicorn ends."""

import contextlib

import flask
import pcp_trace.wsgi

application = flask.Flask(__name__)
application.logger.disabled = True
pcp_trace.wsgi.trace_flask(application)


@application.route("/fail/<how>")
def fail(how):
    raise ValueError("planted") if how == "error" else SystemExit(1)


client = application.test_client()
assert client.get("/fail/error").status_code == 500
with contextlib.suppress(SystemExit):
    client.get("/fail/exit")
