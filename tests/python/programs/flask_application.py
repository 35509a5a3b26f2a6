# SPDX-License-Identifier: LGPL-2.1-or-later
"""A Flask application that writes a line to the file LOG for each response: how it must be counted, and how many calls
of this worker an agent had acknowledged before."""

import json
import os
import urllib.request

import flask
import pcp_trace as trace
import pcp_trace.urllib
import pcp_trace.wsgi

application = flask.Flask(__name__)
application.logger.disabled = True  # its failures are wanted
pcp_trace.wsgi.trace_flask(application)
opener = urllib.request.build_opener(pcp_trace.urllib.Handler)
log = os.open(os.environ["LOG"], os.O_WRONLY | os.O_APPEND)


def write(*line):
    os.write(log, (json.dumps(line) + "\n").encode())


@application.after_request
def note(response):
    rule = flask.request.url_rule
    route = f"route={rule.rule.replace('<int:number>', ':number')};" if rule else ""
    write(os.getpid(), "transact.aborts" if response.status_code >= 500 else "transact.count",
          f"request{{method={flask.request.method};{route}status={response.status_code}}}",
          trace.stats()["acknowledged"])
    return response


@application.route("/item/<int:number>", methods=["GET", "POST"])
def item(number):
    if number % 5 == 0:
        flask.abort(404)
    if number % 7 == 0:
        raise LookupError(number)
    if number % 3 == 0:
        return (f"part {part}\n" for part in range(number)), 200
    return "item"


@application.route("/ask")
def ask():
    write("request", trace.headers()["traceparent"])
    with opener.open(os.environ["BACKEND"]) as answer:
        return answer.read()


@application.route("/flushed")
def flushed():
    trace.flush(60)
    return str(os.getpid())


@application.route("/pid")
def pid():
    return str(os.getpid())
