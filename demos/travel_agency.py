#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pretend travel agency: eight asyncio tasks serve customers, and ask two airlines at once for each.

    travel_agency.py SECONDS

An airline usually answers within milliseconds. One answer in sixty comes too late: the agency ends the offer without
it, as failed, with the status 504. So compare the times of the offers that failed with those of the others:

    pminfo -f trace.transact.p99 trace.transact.aborts trace.transact.abort_time
"""

import asyncio
import random
import sys
import time

import pcp_trace as trace

CUSTOMERS = 8
PATIENCE_S = 0.05

offer = trace.Tag("offer")  # looked up once
seats_found = trace.Tag("seats-found")


@trace.transaction("ask-airline")  # each call; an exception aborts it, as does a task's cancellation
async def ask_airline():
    is_late = random.randrange(60) == 0
    await asyncio.sleep(1 if is_late else random.uniform(0.002, 0.008))
    return random.randrange(100)


async def serve():
    with offer.transaction() as running:  # the current one of this task, and of the tasks that it starts
        try:
            async with asyncio.timeout(PATIENCE_S):
                seats = sum(await asyncio.gather(ask_airline(), ask_airline()))
        except TimeoutError:
            running.label("status", 504)  # known only now; failing ends the transaction
            running.fail("an airline did not answer")
            return
        seats_found.observe(seats)
        running.label("status", 200 if seats > 20 else 404)


async def customer(until):
    served = 0
    while time.monotonic() < until:
        await serve()
        served += 1
    return served


async def main(seconds):
    until = time.monotonic() + seconds
    served = await asyncio.gather(*(customer(until) for _ in range(CUSTOMERS)))
    print(f"served {sum(served)} offers")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: travel_agency.py SECONDS")
    asyncio.run(main(float(sys.argv[1])))
