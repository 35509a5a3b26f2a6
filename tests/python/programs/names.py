# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the public names of the package, with those of its classes."""

import json

import pcp_trace as trace

OWN = ("__new__", "__enter__", "__exit__", "__call__")
print(json.dumps({name: sorted(each for each in vars(getattr(trace, name)) if each in OWN or not each.startswith("_"))
                  if isinstance(getattr(trace, name), type) else None for name in trace.__all__}))
