# SPDX-License-Identifier: LGPL-2.1-or-later
"""pmtraceerrstr: the same text as stock for each code that a script may check."""

import os

from trace_test import (OUR_LIBRARY, STOCK_LIBRARY, TraceTestCase, library_environment,
                        with_each_library)

OWN_CODES = range(-12000, -12012, -1)


class ErrorTextTestCase(TraceTestCase):
    def texts(self, codes, library=None):
        """Gives the text of each code."""
        lines = self.trace(library_environment(library or self.library), *(f"errstr {code}" for code in codes))
        return dict(zip(codes, lines))


@with_each_library
class ErrorText(ErrorTextTestCase):
    def test_is_the_documented_one(self):
        unknown = dict.fromkeys((1, 12000, -12012, -20000, -2147483648, 2147483647), "Unknown error code.")
        expected = unknown | {0: "No error.", -11999: "Unknown error 11999",
                              -12010: "Cannot connect to PMDA - permission denied",
                              -12011: "Cannot connect to PMDA - connection limit reached",
                              **{code: os.strerror(-code) for code in range(-1, -134, -1)}}
        self.assertEqual(self.texts(expected), expected)

    def test_each_code_of_the_library_has_a_text_of_its_own(self):
        own = self.texts(OWN_CODES).values()
        self.assertEqual(len(set(own)), len(OWN_CODES))
        self.assertNotIn("", own)
        self.assertNotIn("Unknown error code.", own)


class BothLibraries(ErrorTextTestCase):
    def test_system_errors_agree(self):
        codes = [*range(0, -200, -1), -11999]
        self.assertEqual(self.texts(codes, OUR_LIBRARY), self.texts(codes, STOCK_LIBRARY))
