# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library's symbols, as the dynamic linker sees them."""

import os
import re

from private_pmcd import completed
from trace_test import (OUR_LIBRARY, STOCK_LIBRARY, TraceTestCase, library_environment, program,
                        with_each_library)

FUNCTIONS = {"pmtracebegin", "pmtraceend", "pmtraceabort", "pmtracepoint", "pmtraceobs",
             "pmtracecounter", "pmtracestate", "pmtraceerrstr"}
LEGACY = FUNCTIONS | {name + "_" for name in FUNCTIONS}
NODE = "PCP_TRACE_2.0"
NEW_CALLS = {"pmtraceadd", "pmtraceadd_", "pmtracecount_", "pmtracedescribe_", "pmtracemmv_"} | {
    "pmtrace_" + name for name in
    ("tag", "tag_with", "tag_text", "describe", "point", "observe", "count", "add", "begin", "end", "abort",
     "begin_from", "begin_under", "attach", "detach", "context", "context_state", "is_captured",
     "note", "note_number", "link", "fail", "flush", "mmv", "stats", "complain_once",
     "tag_add_labels", "end_as", "abort_as", "fail_as", "begin_at", "begin_from_at",
     "begin_under_at", "want")}


def readelf(*arguments):
    return completed("readelf", "--wide", *arguments, check=True).stdout


def exported(library):
    """Gives {name: (type, binding, version node or None)} of the symbols that a library exports."""
    symbols = {}
    for line in readelf("--dyn-syms", library).splitlines():
        match = re.match(r"\s+\d+: \w+ +\d+ (\w+) +(\w+) +DEFAULT +(\w+) (\w+)(?:@@(\S+))?$", line)
        if match and match[3] not in ("UND", "ABS"):
            symbols[match[4]] = (match[1], match[2], match[5])
    return symbols


def dynamic(library, tag):
    return re.findall(rf"\({tag}\).*\[(.*)\]", readelf("--dynamic", library))


@with_each_library
class Library(TraceTestCase):
    def test_has_the_name_that_programs_ask_for(self):
        self.assertEqual(dynamic(self.library, "SONAME"), ["libpcp_trace.so.2"])

    def test_exports_the_calls_and_their_fortran_twins_plainly(self):
        symbols = exported(self.library)
        self.assertEqual({name: symbols.get(name) for name in LEGACY},
                         {name: ("FUNC", "GLOBAL", NODE) for name in LEGACY})

    def test_can_be_overridden_by_a_preloaded_library(self):
        environment = library_environment(self.library, LD_PRELOAD=program("overriding.so"))
        self.assertEqual(self.trace(environment, "point a", "null point"), [77, 77])


class OurLibrary(TraceTestCase):
    def test_exports_nothing_else_but_the_new_calls_in_a_node_of_their_own(self):
        added = exported(OUR_LIBRARY)
        for name in LEGACY:
            del added[name]
        # Without a version: otherwise a program linked with one library could not run with the other.
        for name in ("_exit", "_Exit", "daemon"):
            self.assertEqual(added.pop(name), ("FUNC", "GLOBAL", None))
        # No calls: for Python's binding, which finds them by their names.
        for name in ("pcp_trace_default_service", "pcp_trace_state"):
            self.assertEqual(added.pop(name), ("OBJECT", "GLOBAL", "PCP_TRACE_2.1"))
        self.assertEqual(set(added), NEW_CALLS)
        for name, (kind, binding, node) in added.items():
            self.assertEqual((kind, binding), ("FUNC", "GLOBAL"), name)
            self.assertNotIn(node, (NODE, None), name)

    def test_has_a_stub_of_all_its_calls(self):
        stub = os.path.join(os.path.dirname(OUR_LIBRARY), "stub", os.path.basename(OUR_LIBRARY))
        self.assertEqual({name for name in exported(OUR_LIBRARY) if name.startswith("pmtrace")}, set(exported(stub)))

    def test_needs_nothing_but_libc(self):
        self.assertLessEqual(set(dynamic(OUR_LIBRARY, "NEEDED")),
                             {"libc.so.6", "ld-linux-x86-64.so.2"})

    def test_is_never_unloaded(self):
        self.assertIn("NODELETE", readelf("--dynamic", OUR_LIBRARY))

    def test_has_none_of_its_objects_destroyed_while_its_thread_works(self):
        """In the static library, which has no objects but ours: those of the C++ library have destructors without work."""
        imports = readelf("--syms", os.path.join(os.path.dirname(OUR_LIBRARY), "libpcp_trace.a"))
        self.assertIn(" pthread_create", imports)
        self.assertNotIn(" __cxa_atexit", imports)

    def test_keeps_no_executable_stack_and_no_text_relocations(self):
        self.assertRegex(readelf("--program-headers", OUR_LIBRARY), r"GNU_STACK.* RW +0x")
        self.assertNotIn("TEXTREL", readelf("--dynamic", OUR_LIBRARY))

    def test_stands_in_for_stock_in_every_program_linked_with_it(self):
        """Our library has every versioned symbol that the stock library offers to programs."""
        offered = {name for name in exported(STOCK_LIBRARY) if name.startswith("pmtrace")}
        self.assertEqual(offered, LEGACY)
        self.assertLessEqual(offered, set(exported(OUR_LIBRARY)))
