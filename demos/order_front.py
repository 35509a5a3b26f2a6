#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The front of a pretend shop, the first of the programs that handle an order:

    order_front.py SECONDS SOCKET SCRIPT

It asks order_stock, in C++, through a socket, with the trace in its protocol, and runs order_receipt.sh, with the trace
in the environment.
"""

import os
import socket
import subprocess
import sys
import time

import pcp_trace as trace


@trace.transaction("ask-stock")  # each call; an exception aborts it
def ask_stock(stock, article):
    """Gives the answer: "ok", or why not."""
    print(trace.headers().get("traceparent", "-"), article, file=stock, flush=True)
    answer = stock.readline().strip()
    if not answer:
        raise ConnectionError("the stock has gone")
    return answer


@trace.transaction("print-receipt")
def print_receipt(script):
    names = {header.upper(): text for header, text in trace.headers().items()}  # TRACEPARENT, TRACESTATE
    subprocess.run(["sh", script], env=os.environ | names, check=True)


def serve(number, stock, script):
    with trace.transaction("order") as running:
        running.note("article", number)
        if number % 2 == 0:
            trace.point("discount")
        answer = ask_stock(stock, number)
        if answer == "ok":
            print_receipt(script)
        else:
            running.fail(answer)


def main(seconds, path, script):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        stock = connection.makefile("rw")
        number, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            number += 1
            serve(number, stock, script)
            time.sleep(0.5)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("Usage: order_front.py SECONDS SOCKET SCRIPT")
    try:
        main(float(sys.argv[1]), *sys.argv[2:])
    except (OSError, subprocess.CalledProcessError) as problem:
        sys.exit(f"order_front: {problem}")
