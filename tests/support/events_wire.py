# SPDX-License-Identifier: LGPL-2.1-or-later
"""Captures on the wire: a program made by hand that is told what to capture, and sends spans."""

import select
import struct

import batch_wire
import legacy_wire
from batch_wire import field, varint

EVENTS, CONTROL, EVENTSACK = 0x7066, 0x7067, 0x7068
INTERNAL, SERVER, CLIENT, POINT, OBSERVE, COUNTER, ADD = range(7)


def _fixed64(number, value):
    return varint(number << 3 | 1) + struct.pack("<Q", value)


def _double(number, value):
    return varint(number << 3 | 1) + struct.pack("<d", value)


def encode_span(tag=1, places=1, kind=INTERNAL, begin_ns=0, duration_ns=0, trace=(1, 2), span=3,
                parent=0, tid=0, attributes=(), value=None):
    """`attributes` are pairs of a key and a text or a number."""
    fields = [field(1, tag), field(2, kind), _fixed64(3, begin_ns), field(4, duration_ns),
              _fixed64(5, trace[0]), _fixed64(6, trace[1]), _fixed64(7, span),
              _fixed64(8, parent), field(10, tid), field(11, places)]
    for key, noted in attributes:
        shown = field(2, noted) if isinstance(noted, bytes) else _double(3, noted)
        fields.append(field(14, field(1, key) + shown))
    if value is not None:
        fields.append(_double(17, value))
    return b"".join(fields)


def encode_events(sequence, control, spans=(), counts=()):
    """`counts` are tuples: a capture's id, captured, and missed: full, limit, waiting, away."""
    fields = [field(1, sequence), field(2, control)]
    fields += [field(3, span) for span in spans]
    fields += [field(4, b"".join(field(number, value) for number, value in enumerate(count, 1)))
               for count in counts]
    return legacy_wire.encode_pdu(EVENTS, b"".join(fields))


def decode_fields(message):
    """Gives pairs of a field's number and its value."""
    position = 0

    def number():
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while position < len(message):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            size = 8 if key & 7 == 1 else number()
            yield key >> 3, message[position:position + size]
            position += size


class Control:
    """A CONTROL: the captures that a process is asked for."""

    def __init__(self, message):
        self.number = 0
        self.captures = {}  # filter: (id, place)
        for name, value in decode_fields(message):
            if name == 1:
                self.number = value
            elif name == 2:
                capture = dict(decode_fields(value))
                self.captures[capture[3].decode()] = capture[1], capture.get(2, 0)

    def places(self, *filters):
        """Gives the mask of the captures whose filter has one of these texts in it."""
        return sum(1 << place for text, (_, place) in self.captures.items()
                   if any(wanted in text for wanted in filters))


class Program:
    """A traced process that sends the spans that a test gives it."""

    def __init__(self, path, timeout, tags=(b"request",), **hello):
        self.socket, welcome = batch_wire.connect_and_read_welcome(path, timeout, **hello)
        welcome = dict(decode_fields(welcome))
        self.control = Control(welcome[8]) if 8 in welcome else None
        self.sequence = 0
        self.next_span = 1
        self.socket.sendall(batch_wire.encode_tags(tags))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.socket.close()

    def wait_for_control(self):
        """Reads the next CONTROL."""
        pdu = legacy_wire.read_pdu(self.socket)
        if pdu.type != CONTROL:
            raise ValueError(f"not a CONTROL: {pdu}")
        self.control = Control(pdu.payload)
        return self.control

    def wait_for_filters(self, *filters):
        """Reads until the captures are exactly those with these texts in their filters."""
        while (self.control is None or len(self.control.captures) != len(filters) or
               not all(self.control.places(text) for text in filters)):
            self.wait_for_control()
        return self.control

    def has_been_told_something(self):
        """Whether something waits to be read."""
        return bool(select.select([self.socket], [], [], 0)[0])

    def send(self, *spans, counts=()):
        """Sends spans and waits until they are acknowledged; takes any CONTROL that comes meanwhile."""
        self.sequence += 1
        self.socket.sendall(encode_events(self.sequence, self.control.number, spans, counts))
        while (answer := legacy_wire.read_pdu(self.socket)).type == CONTROL:
            self.control = Control(answer.payload)
        if answer.type != EVENTSACK:
            raise ValueError(f"not an EVENTSACK: {answer}")

    def send_some(self, count, places, at_once=100, **span):
        """Sends so many spans, with ids that count up; gives these."""
        first = self.next_span
        self.next_span += count
        for begin in range(first, self.next_span, at_once):
            self.send(*(encode_span(span=number, places=places, begin_ns=number * 1000, **span)
                        for number in range(begin, min(begin + at_once, self.next_span))))
        return list(range(first, self.next_span))
