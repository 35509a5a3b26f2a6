# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traces one point, as a script or as a module."""

import service  # noqa: F401
