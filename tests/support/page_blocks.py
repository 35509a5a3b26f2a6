# SPDX-License-Identifier: LGPL-2.1-or-later
"""The blocks of code in a page."""

import re


def blocks(page):
    """Gives the kind and the text of each, in order; the kind is what stands behind the first quotes, or nothing."""
    return re.findall(r"^```(.*)\n((?:.*\n)*?)```$", page, re.MULTILINE)
