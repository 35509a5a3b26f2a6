# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls in many processes, threads and interpreters, which end in each way. Each process prints its log:
processes.py HOW"""

import asyncio
import atexit
import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time

import log

if sys.argv[1:] == ["signals"]:
    @atexit.register
    def end_after_the_library():
        assert callable(signal.getsignal(signal.SIGTERM))
        assert trace.stats()["acknowledged"] == trace.stats()["recorded"] > 0

import pcp_trace as trace

CALLS = 300
request = trace.Tag("request")


@trace.transaction("function")
def function():
    trace.add("added", 2)


def work():
    """Its own log is the caller's affair, since threads would share it."""
    for number in range(CALLS):
        trace.point("point")
        function()
        try:
            with request.transaction() as running:
                running.label("third", number % 3)
                if number % 3 == 0:
                    raise ValueError
        except ValueError:
            pass


def note_work(times=1):
    log.note(log.POINTS, "point", times * CALLS)
    log.note(log.COUNT, "function", times * CALLS)
    log.note(log.ADDED, "added", times * CALLS * 2)
    log.note(log.ABORTS, "request{third=0}", times * CALLS // 3)
    for third in (1, 2):
        log.note(log.COUNT, f"request{{third={third}}}", times * CALLS // 3)


def child(*_):
    work()
    note_work()
    log.write()


def processes(method):
    context = multiprocessing.get_context(method)
    children = [context.Process(target=child) for _ in range(4)]
    for each in children:
        each.start()
    child()
    for each in children:
        each.join()
        assert each.exitcode == 0
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(child, range(4)))


def fork_and(end):
    """Forks inside of a transaction, which the parent ends; the child ends in this way."""
    with request.transaction():
        pid = os.fork()
        if pid == 0:
            child()
            end()
        assert os.waitpid(pid, 0)[1] == 0
    log.note(log.COUNT, "request")
    child()


def unwind():
    sys.exit(0)


def at_once():
    os._exit(0)


def without_lines_at_the_end():
    """A child's own calls come after its fork in a block of the parent's: it unwinds those, too."""
    @trace.transaction("decorated")
    def decorated():
        fork_and(unwind)
    decorated()
    log.note(log.COUNT, "decorated")
    log.write()


def threads():
    def many():
        for _ in range(5):
            work()
    running = [threading.Thread(target=many) for _ in range(6)]
    for each in running:
        each.start()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: work(), range(10)))
    asyncio.run(in_threads())
    for each in running:
        each.join()
    note_work(5 * 6 + 10 + 4)
    log.write()


async def in_threads():
    await asyncio.gather(*(asyncio.to_thread(work) for _ in range(4)))


def interpreters():
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    for _ in range(3):
        identity = interpreters.create()
        code = f"import sys; sys.path[:] = {sys.path!r}; sys.argv = ['processes.py']\n" \
               "import pcp_trace as trace\n" \
               "for _ in range(10):\n" \
               "    with trace.transaction('elsewhere', kind=1): trace.Tag('point').point()\n" \
               "with trace.begin_from('elsewhere', {'traceparent': '00-0af7651916cd43dd8448eb211c80319c-' \
               'b7ad6b7169203331-01'}): assert trace.headers()\n" \
               "assert not trace.headers()"
        interpreters.run_string(identity, code)
        interpreters.destroy(identity)
        assert trace.headers() == {}
        log.note(log.COUNT, "elsewhere{kind=1}", 10)
        log.note(log.COUNT, "elsewhere")
        log.note(log.POINTS, "point", 10)
    child()


def signals():
    """Handlers that trace run between any two lines; then one ends the program."""
    handled = []

    def handle(*_):
        with trace.transaction("handler"):
            handled.append(1)

    def leave(*_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        log.note(log.COUNT, "handler", len(handled))
        log.note(log.ABORTS, "ended by a signal")
        log.write()
        sys.exit(0)

    signal.signal(signal.SIGALRM, handle)
    signal.signal(signal.SIGTERM, leave)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    while len(handled) < 100:
        work()
        note_work()
    with trace.transaction("ended by a signal"):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1000)  # load: until the handler


def late():
    """An exception of a handler reaches the program from everywhere, or it would never end."""
    class Late(BaseException):
        pass

    @trace.transaction("function")
    def fail():
        raise KeyError(17)

    def fail_inside():
        with request.transaction():
            raise KeyError(17)

    def handle(*_):
        raise Late

    running = request.begin()
    signal.signal(signal.SIGALRM, handle)
    for call in [lambda: running.label("third", 1), fail, fail_inside] * 30:
        with contextlib.suppress(Late):
            signal.setitimer(signal.ITIMER_REAL, 0.0005)
            while True:
                with contextlib.suppress(KeyError):
                    call()


def killed():
    """Python's own handler of SIGINT."""
    work()
    note_work()
    try:
        with request.transaction():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1000)  # load: until the handler
    except KeyboardInterrupt:
        log.note(log.ABORTS, "request")
    log.write()
    os._exit(0)


def waiting():
    """For an agent that never comes."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    trace.point("point")
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        trace.flush(1e9)
    except KeyboardInterrupt:
        os._exit(0)


def interrupted():
    """No library is there after Python's end, since it ends itself by SIGINT."""
    pid = os.fork()
    if pid == 0:
        sys.excepthook = lambda *_: None
        for _ in range(20):
            child()
            trace.flush(1000)
        child()
        signal.raise_signal(signal.SIGINT)
    assert os.waitpid(pid, 0)[1] == signal.SIGINT


if __name__ == "__main__":
    {"fork": lambda: processes("fork"), "spawn": lambda: processes("spawn"), "forkserver": lambda: processes("forkserver"),
     "exit": lambda: fork_and(unwind), "_exit": lambda: fork_and(at_once), "decorated": without_lines_at_the_end,
     "threads": threads, "interpreters": interpreters, "signals": signals, "killed": killed,
     "interrupted": interrupted, "late": late, "waiting": waiting}[sys.argv[1]]()
