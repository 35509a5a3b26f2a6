# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the values of tracing.histogram.*; protocol.md has their format."""

import base64
import collections
import struct


class Distribution(collections.namedtuple("Distribution", "since coarseness unbinned bins")):
    """`bins` is {number: count}."""

    @property
    def count(self):
        return sum(self.bins.values())


def bin_of(value):
    bits, = struct.unpack(">Q", struct.pack(">d", value))
    magnitude = bits >> 47 & 0xffff
    if magnitude < 32:
        return 0
    return ~magnitude if bits >> 63 else magnitude


def bins_of(values):
    return dict(collections.Counter(map(bin_of, values)))


def _varints(data):
    number = shift = 0
    for byte in data:
        number |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number = shift = 0


def _unpack(data):
    """Gives {bin: count} of a packed histogram, without its first byte."""
    numbers = _varints(data)
    first = next(numbers)
    number = (first >> 1 ^ -(first & 1)) - 1
    bins = {}
    for token in numbers:
        number += 1 + (next(numbers) + 1 if token & 1 else 0)
        bins[number] = token >> 1
    return bins


def parse(text):
    version, since, coarseness, count, unbinned, encoded = text.split(" ")
    if version != "1":
        raise ValueError(f"unknown version: {text}")
    bins = {}
    if encoded != "-":
        packed = base64.b64decode(encoded, validate=True)
        bins = _unpack(packed[1:])
        if packed[0] != int(coarseness):
            raise ValueError(f"two values of coarseness: {text}")
    distribution = Distribution(int(since), int(coarseness), int(unbinned), bins)
    if distribution.count != int(count):
        raise ValueError(f"two values of count: {text}")
    return distribution
