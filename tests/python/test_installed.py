# SPDX-License-Identifier: LGPL-2.1-or-later
"""The installed package: it finds its library by itself, beside PCP's."""

import os
import sys

import installed
from installed import find, run
from trace_test import STOCK_LIBRARY, TraceTestCase

setUpModule = installed.set_up


class Installed(TraceTestCase):
    library = None

    def assert_traces(self, **variables):
        pmcd = self.start_pmcd()
        packages = os.path.join(installed.prefix, "lib/python3/dist-packages")
        environment = self.environment(pmcd, PYTHONPATH=packages, **variables)
        code = "import pcp_trace; pcp_trace.point('package'); print(pcp_trace.__file__)"
        self.assertEqual(run(sys.executable, "-B", "-c", code, env=environment),
                         f"{packages}/pcp_trace/__init__.py\n")
        self.assertEqual(pmcd.values("trace.point.count"), {"package": 1})

    def test_finds_its_library(self):
        self.assert_traces()

    def test_finds_its_library_where_pcps_is_found_first(self):
        self.assert_traces(LD_LIBRARY_PATH=os.path.dirname(os.path.realpath(STOCK_LIBRARY)))

    def test_searches_no_directory_of_the_build(self):
        self.assertNotIn("PATH)", run("readelf", "--dynamic", find("_native.abi3.so")))

    def test_has_all_modules_and_their_types(self):
        self.assertEqual(sorted(os.listdir(os.path.dirname(find("_native.abi3.so")))),
                         ["__init__.py", "__init__.pyi", "_helpers.py", "_native.abi3.so", "_served.py", "asgi.py", "httpx.py",
                          "logs.py", "py.typed", "requests.py", "urllib.py", "wsgi.py"])
