# SPDX-License-Identifier: LGPL-2.1-or-later
"""The package traces on the way to this; the directory, as a script, only here."""

import service  # noqa: F401
