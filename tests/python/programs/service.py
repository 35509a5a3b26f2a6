# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traces one point, as a script or as a module."""

import os
import subprocess

import pcp_trace as trace

trace.point(os.environ["POINT"])
# A program that this one starts has a name of its own.
subprocess.run([os.environ["TRACED"]], input=f"point {os.environ['POINT']}.in\n", text=True, check=True,
               stdout=subprocess.DEVNULL)
