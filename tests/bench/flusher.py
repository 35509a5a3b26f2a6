# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cost of the library's own thread: per record, and per flush of a thousand tags."""

import google
from figures import Figure, median

PART = "The flusher and the wire"
ROUNDS = 5
MOST_NS_A_RECORD = 12
MOST_NS_A_FLUSH = 1e6
MOST_NS_AN_MMV_FILE = 1e5
MOST_BYTES_A_TAG = 64
MOST_BYTES_A_BIN = 2.5


def measure(tools, brief):
    rounds = []
    for number in range(1 if brief else ROUNDS):
        tools.progress(f"round {number + 1} of {ROUNDS}")
        rows = google.run(tools, "flusher_bench", brief)
        # "drain/points/100/iterations:2000/manual_time", "flush/100/iterations:50/manual_time"
        rounds.append({name.split("/iterations")[0]: row for name, row in rows.items()})
    yield from _figures(lambda name, key: median(each[name][key] for each in rounds))


def _figures(value):
    for kind in ("observations", "transactions", "points", "counters", "increments"):
        for tags in (1, 100, 1000):
            yield Figure(PART, f"draining {kind} of {tags:,} tag{'s' * (tags > 1)}, a record", "ns",
                         value(f"drain/{kind}/{tags}", "ns"), MOST_NS_A_RECORD, "12 ns")
    yield Figure(PART, "of this, adding to a histogram", "ns", value("histogram_add", "ns"))
    for records in (1, 10, 100, 1000):
        name = f"flush/{records}"
        bins = value(name, "bins")
        flush = f"flush of 1,000 tags with {bins:.0f} bins each"
        yield Figure(PART, flush, "us", value(name, "ns") / 1000, MOST_NS_A_FLUSH / 1000, "1 ms")
        yield Figure(PART, f"{flush}, a tag", "bytes", value(name, "bytes"),
                     MOST_BYTES_A_TAG + MOST_BYTES_A_BIN * bins, "64 and 2.5 for each bin")
    yield Figure(PART, "the same tags in an MMV file, all with new values", "us", value("mmv", "ns") / 1000,
                 MOST_NS_AN_MMV_FILE / 1000, "0.1 ms")
    yield Figure(PART, "a tag's name, once a connection", "bytes",
                 value("flush/1", "definition_bytes"))
