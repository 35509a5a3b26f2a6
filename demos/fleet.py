#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows several hosts at once: ./run demo fleet, or

    demos/fleet.py BUILD_DIRECTORY VICTORIA_METRICS [SECONDS]

Makes three hosts of this machine, each with its own pmcd and agent. The shop of ./run demo spans runs on them: its
front on one, its stock on another, its worker on the third. `pcp-trace export` sends the metrics of all three by OTLP
to a VictoriaMetrics, which answers questions about the fleet. A pmlogger for each host logs them, pmproxy hands the
archives to a key server, and pmseries asks it. `pcp-trace spans` shows an order on its way through the three. Leaves
nothing behind.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from show import HERE, WINDOW, PrivatePmcd, leave_at_signals
from spans import SLOW, need, shop
from key_server import KeyServer
from pmlogger import Pmlogger
from pmproxy import Pmproxy
from private_pmcd import ReservedPort, completed, wait_until
from prometheus import ask

DEFAULT_SECONDS = 20
HOSTS = {"front1": "order_front", "stock1": "order_stock", "depot1": "OrderWorker"}  # and what runs there
PATIENCE_S = 60

QUESTIONS = (
    ("Orders a second, over the last 10 s, by host and tag",
     'sum by (host_name, tag, outcome)\n'
     '      (rate(trace_transact_count_total{tag=~"order|reserve|pick"}[10s]) > 0)', "{:8.1f} /s"),
    ("95% take at most",
     'histogram_quantile(0.95, sum by (host_name, tag, vmrange)\n'
     '      (increase(trace_transact_duration_seconds_bucket\n'
     '        {tag=~"order|reserve|pick"}[1h]))) * 1000', "{:8.1f} ms"),
    ("Orders in all, since the start", 'sum by (outcome) (trace_transact_count_total{tag="order"} > 0)', "{:8.0f}"),
)

COUNT = 'trace.transact.count{host=="front1"}'
RATE = f"rate({COUNT}[samples:4])"


def start(*command, **options):
    """setpriv ends the command if this process is killed."""
    return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.DEVNULL, **options)


@contextlib.contextmanager
def ended_at_the_end(process):
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def start_host(stack, build, folder, name):
    """Its label tells its series from the others': they all have the name of this machine."""
    os.makedirs(f"{folder}/{name}/labels")
    with open(f"{folder}/{name}/labels/host", "w", encoding="utf-8") as file:
        json.dump({"host": name}, file)
    return stack.enter_context(PrivatePmcd(
        os.path.join(build, "pmda/agent/pmdatrace"), WINDOW, os.path.join(HERE, "../pmda/root"), host_name=name,
        environment={"PCP_SYSCONF_DIR": f"{folder}/{name}"}))


def log(stack, pmcds):
    """Gives the key server that gets what the hosts' pmloggers write."""
    center = pmcds["front1"]
    keys = stack.enter_context(KeyServer(center.directory))
    for host in pmcds:
        os.makedirs(center.path(f"archives/pmlogger/{host}"))
    stack.enter_context(Pmproxy(center, keys.ports))
    # PCP 6.0 may not learn the names of tags that are younger than the archive.
    wait_until(lambda: "order" in center.values("trace.transact.count"), what="an order")
    for host, pmcd in pmcds.items():
        stack.callback(Pmlogger(pmcd, center.path(f"archives/pmlogger/{host}/log"), unix=True, every="1 sec").end)
    return keys


def show_history(keys):
    def pmseries(*words):
        return completed("pmseries", "-h", "127.0.0.1", "-p", str(keys.ports[0]), *words).stdout

    def rates():
        """Without pmseries's hash, which stands for the tag."""
        series = pmseries(COUNT).split()
        hashes = re.findall(r'or "order"\] series (\w+)', pmseries("-a", *series) if series else "")
        return hashes and re.findall(rf"\[.* (\S+?)\.\d+ \d+\] (\S+) {hashes[0]}", pmseries(RATE))
    print(f"The front's last orders a second, by the history in a key server:\n    pmseries '{RATE}'")
    for at, rate in wait_until(rates, what="rates"):
        print(f"    {float(rate):8.1f} /s  {at}")
    print(flush=True)


def wait_for_answer(address, query):
    end = time.monotonic() + PATIENCE_S
    while not (answer := ask(address, query)):
        if time.monotonic() > end:
            sys.exit("demo: VictoriaMetrics has no answer")
        time.sleep(0.2)
    return answer


def show_answers(address):
    for title, query, form in QUESTIONS:
        print(f"{title}:\n    {query}")
        for labels, value in sorted(wait_for_answer(address, query).items()):
            words = dict(labels)
            names = [words[key] for key in ("host_name", "tag", "outcome") if key in words]
            print(f"    {form.format(value)}  {'  '.join(f'{name:9}' for name in names)}".rstrip())
        print(flush=True)


def environment_of(pmcd):
    return pmcd.environment(PCP_TRACE_SOCKET=pmcd.path("run/trace.socket"), PCP_TRACE_HOST=None, PCP_TRACE_PORT=None)


def main(build, victoria, seconds):
    command = os.path.join(build, "pmda/command/pcp-trace")
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="trace-"))
        pmcds = {name: start_host(stack, build, folder, name) for name in HOSTS}
        words = [word for pmcd in pmcds.values() for word in ("-h", pmcd.host(unix=True))]
        port = stack.enter_context(ReservedPort())
        address = f"127.0.0.1:{port.number}"
        print("Three hosts:\n" + "".join(f"    {host} runs {program}\n" for host, program in HOSTS.items()) +
              f"==> pcp-trace export --otlp http://{address}/opentelemetry \\\n"
              "        --only metrics -t 1s -h ... -h ... -h ...\n", flush=True)
        stack.enter_context(ended_at_the_end(start(
            victoria, f"-storageDataPath={pmcds['front1'].path('victoria')}", f"-httpListenAddr={address}",
            "-opentelemetry.usePrometheusNaming", "-search.latencyOffset=0s",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)))
        export = stack.enter_context(ended_at_the_end(start(
            command, "export", "--otlp", f"http://{address}/opentelemetry", "--only", "metrics", "-t", "1s", *words,
            text=True, stderr=subprocess.PIPE)))
        environments = {program: environment_of(pmcds[host]) for host, program in HOSTS.items()}
        stack.enter_context(shop(build, environments.__getitem__))
        keys = log(stack, pmcds)
        time.sleep(seconds)
        show_answers(address)
        show_history(keys)
        export.terminate()
        print(f"The export's last line:\n    {export.communicate()[1].splitlines()[-1]}\n")
        print("One order, through the three hosts:\n"
              f"==> pcp-trace spans -h ... -h ... -h ... -s 1 \\\n        {' '.join(SLOW)}\n", flush=True)
        subprocess.run([command, "spans", *words, "-s", "1", "-T", f"{PATIENCE_S}s", *SLOW], check=True,
                       stderr=subprocess.DEVNULL)
    print("\nTo look further: libtrace/docs/opentelemetry.md")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    seconds_given = arguments[2] if len(arguments) == 3 else str(DEFAULT_SECONDS)
    if not 2 <= len(arguments) <= 3 or not os.path.isdir(arguments[0]) or not seconds_given.isdigit():
        sys.exit("Usage: demos/fleet.py BUILD_DIRECTORY VICTORIA_METRICS [SECONDS]")
    leave_at_signals()
    need("setpriv", "util-linux")
    need("redis-check-rdb", "redis-tools")
    need(os.path.abspath(arguments[1]), "victoria-metrics; ./run demo fleet gets it")
    main(os.path.abspath(arguments[0]), os.path.abspath(arguments[1]), int(seconds_given))
