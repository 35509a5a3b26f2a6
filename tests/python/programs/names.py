# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the public names of the package, and of its classes, with the parameters that help() shows."""

import inspect
import json

import pcp_trace as trace


def parameters(function):
    return [str(each) for each in inspect.signature(function).parameters.values()]


def methods(kind):
    public = {name: parameters(each) for name, each in vars(kind).items() if not name.startswith("_")}
    return public | {"__new__": ["cls", *parameters(kind)]} if "__new__" in vars(kind) else public


print(json.dumps({name: methods(named) if isinstance(named, type) else parameters(named)
                  for name, named in ((name, getattr(trace, name)) for name in trace.__all__)}))
assert {"__call__", "__enter__", "__exit__"} <= vars(trace.Transaction).keys()
