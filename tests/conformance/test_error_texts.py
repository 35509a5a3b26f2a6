# SPDX-License-Identifier: LGPL-2.1-or-later
"""pmtraceerrstr: the same text as stock for each code that a script may check."""

import os

from trace_test import (OUR_LIBRARY, STOCK_LIBRARY, TraceTestCase, library_environment,
                        with_each_library)

OWN_CODES = range(-12000, -12012, -1)


def texts(test, library, codes):
    lines = test.trace(library_environment(library), *(f"errstr {code}" for code in codes))
    return dict(zip(codes, lines))


@with_each_library
class ErrorText(TraceTestCase):
    def text(self, code):
        return texts(self, self.library, [code])[code]

    def test_success(self):
        self.assertEqual(self.text(0), "No error.")

    def test_unknown_codes(self):
        for code in (1, 12000, -12012, -20000, -2147483648, 2147483647):
            self.assertEqual(self.text(code), "Unknown error code.")

    def test_system_errors_are_strerrors(self):
        codes = range(-1, -134, -1)
        self.assertEqual(texts(self, self.library, codes),
                         {code: os.strerror(-code) for code in codes})
        self.assertEqual(self.text(-11999), "Unknown error 11999")

    def test_each_code_of_the_library_has_a_text_of_its_own(self):
        own = texts(self, self.library, OWN_CODES).values()
        self.assertEqual(len(set(own)), len(OWN_CODES))
        self.assertNotIn("", own)
        self.assertNotIn("Unknown error code.", own)

    def test_refusals_say_so(self):
        self.assertEqual(self.text(-12010), "Cannot connect to PMDA - permission denied")
        self.assertEqual(self.text(-12011), "Cannot connect to PMDA - connection limit reached")


class BothLibraries(TraceTestCase):
    def test_system_errors_agree(self):
        codes = [*range(0, -200, -1), -11999]
        self.assertEqual(texts(self, OUR_LIBRARY, codes), texts(self, STOCK_LIBRARY, codes))
