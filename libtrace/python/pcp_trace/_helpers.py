# SPDX-License-Identifier: LGPL-2.1-or-later
"""The parts of the module that need no speed."""

import atexit
import functools
import inspect
import os
import signal
import sys
import types

from . import _native  # type: ignore[attr-defined]


def decorate(tag, function):
    """Makes each call of the function a transaction. It stays a coroutine function or a generator."""
    if inspect.isasyncgenfunction(function):
        make = _asynchronous_generator
    elif inspect.isgeneratorfunction(function):
        make = _generator
        if getattr(getattr(function, "__code__", None), "co_flags", 0) & inspect.CO_ITERABLE_COROUTINE:
            make = _generator_to_await
    elif inspect.iscoroutinefunction(function):
        make = _coroutine
    else:
        make = _native.Function
    return functools.update_wrapper(make(tag, function), function)


def _coroutine(tag, function):
    async def traced(*arguments, **named):
        with tag.transaction():
            awaitable = function(*arguments, **named)
            del arguments, named  # the function may delete its own
            return await awaitable
    return traced


def _generator_to_await(tag, function):
    return types.coroutine(_generator(tag, function))


# A generator's transaction begins when the first item is asked for. The code that runs between two items is outside.

def _generator(tag, function):
    def traced(*arguments, **named):
        generator = function(*arguments, **named)
        del arguments, named
        with tag.transaction() as running:
            step, value = generator.send, None
            while True:
                try:
                    item = step(value)
                except StopIteration as end:
                    return end.value
                finally:
                    value = None  # an exception would hold itself by this frame
                running._suspend()
                try:
                    step, value = generator.send, (yield item)
                except BaseException as problem:
                    step, value = generator.throw, problem
                running._resume()
    return traced


def _asynchronous_generator(tag, function):
    async def traced(*arguments, **named):
        generator = function(*arguments, **named)
        del arguments, named
        with tag.transaction() as running:
            step, value = generator.asend, None
            while True:
                try:
                    item = await step(value)
                except StopAsyncIteration:
                    return
                finally:
                    value = None
                running._suspend()
                try:
                    step, value = generator.asend, (yield item)
                except BaseException as problem:
                    step, value = generator.athrow, problem
                running._resume()
    return traced


def find_headers(headers):
    """Gives traceparent and tracestate, each a str, bytes or None, from a mapping or pairs: names in any case, also
    as bytes."""
    found = {"traceparent": [], "tracestate": []}
    if headers is not None:
        try:
            pairs = [(name, value) for name, value in (headers.items() if hasattr(headers, "items") else headers)]
        except (TypeError, ValueError):
            raise TypeError(f"headers must be a mapping or pairs, not {type(headers).__name__}") from None
        for name, value in pairs:
            name = name.decode("latin-1") if isinstance(name, bytes) else str(name)
            values = found.get(name.lower())
            if values is not None:
                if not isinstance(value, (str, bytes)):
                    raise TypeError(f"header {name} must be str or bytes, not {type(value).__name__}")
                values.append(value.decode("latin-1") if isinstance(value, bytes) else value)
    parents, states = found.values()
    return parents[0] if len(parents) == 1 else None, ",".join(states) or None


def service():
    """Gives the name of the program: of its script, or of the module that python -m runs; None if it has neither."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    script = (getattr(sys, "argv", None) or [""])[0]
    if spec is not None and spec.name != "__main__":  # that of a directory or zip file, which is the script
        return spec.name.removesuffix(".__main__")
    if script == "-m":  # a package that is imported on the way to its module
        module = sys.orig_argv[-len(sys.argv)]  # stands before the arguments, perhaps as -mshop or -Bmshop
        return module.partition("m")[2] if module.startswith("-") else module
    if script in ("", "-c", "-"):
        return None
    return os.path.basename(os.path.abspath(script)).removesuffix(".py").removesuffix(".pyz") or None


def deliver_undisturbed():
    """Delivers if the program handles signals, and ignores them meanwhile: gunicorn sends a second one, and Python no
    longer handles signals when the library delivers at its own end. Which never comes after a KeyboardInterrupt: Python
    then ends itself by SIGINT."""
    is_interrupted = getattr(sys, "last_type", None) is KeyboardInterrupt
    signals = [signal.SIGTERM, signal.SIGQUIT]
    if is_interrupted:
        signals.append(signal.SIGINT)
    handlers = {number: handler for number in signals if callable(handler := signal.getsignal(number))}
    try:
        for number in handlers:
            signal.signal(number, signal.SIG_IGN)
    except ValueError:
        return  # not the main thread of the main interpreter, which alone has handlers
    try:
        if handlers or is_interrupted:
            _native.flush(-1)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def follow_processes():
    """Lets forked children begin in the transaction around the fork, and os._exit deliver first: children of
    multiprocessing end so."""
    atexit.register(deliver_undisturbed)
    os.register_at_fork(before=_native.before_fork, after_in_parent=_native.after_fork)
    exit_at_once = os._exit

    @functools.wraps(exit_at_once)
    def _exit(status):
        _native.exit_now(status)
        exit_at_once(status)

    os._exit = _exit
