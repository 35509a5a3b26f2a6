# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands in name spaces of their own. Most containers refuse these, and a chroot refuses some: there a test that needs
them is listed as not run."""

import os
import subprocess
import unittest


def unshare(*kinds):
    """Gives the words before a command that is to be root in new name spaces of these kinds."""
    return ["unshare", *kinds, *([] if os.getuid() == 0 else ["--map-root-user"])]


def needs(*unshare_words):
    """Decorates a test that runs a command behind these words."""
    done = subprocess.run([*unshare_words, "true"], capture_output=True, check=False)
    return unittest.skipUnless(done.returncode == 0,
                               f"needs CAP_SYS_ADMIN or user name spaces, for {' '.join(unshare_words)}")
