# SPDX-License-Identifier: LGPL-2.1-or-later
"""The parts of version 2 of the trace protocol that tests need with raw sockets."""

import os
import socket

import legacy_wire

HELLO, WELCOME, TAGS, BATCH, BATCHACK, BYE = range(0x7060, 0x7066)
POINT = 2


def varint(number):
    encoded = b""
    while number > 0x7f:
        encoded += bytes([number & 0x7f | 0x80])
        number >>= 7
    return encoded + bytes([number])


def field(number, value):
    """A field of protobuf: bytes, or a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def encode_hello(session, pid=4711, process=b"raw", service=b"", labels=()):
    fields = [field(1, session), field(2, pid), field(3, process), field(4, service)]
    fields += [field(5, field(1, name) + field(2, value)) for name, value in labels]
    return legacy_wire.encode_pdu(HELLO, b"".join(fields), pid)


def encode_tags(names, first=1):
    """Names of tags, whose ids count up from `first`."""
    tags = (field(1, field(1, number) + field(2, name))
            for number, name in enumerate(names, first))
    return legacy_wire.encode_pdu(TAGS, b"".join(tags))


def encode_points(sequence, counts):
    """A batch of points; `counts` says how many of each tag id."""
    deltas = (field(5, field(1, tag) + field(2, POINT) + field(3, count))
              for tag, count in counts.items())
    return legacy_wire.encode_pdu(BATCH, field(1, sequence) + b"".join(deltas))


def connect(path, timeout, **hello):
    """Opens a session on the agent's Unix socket."""
    return connect_and_read_welcome(path, timeout, **hello)[0]


def connect_and_read_welcome(path, timeout, **hello):
    """The same; gives the content of the WELCOME, too."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(timeout)
    client.connect(path)
    legacy_wire.read_ack(client)
    client.sendall(encode_hello(os.urandom(16), **hello))
    welcome = legacy_wire.read_pdu(client)
    if welcome.type != WELCOME:
        raise ValueError(f"not a WELCOME: {welcome}")
    return client, welcome.payload


def send_points(client, sequence, counts):
    """Sends a batch and waits until it is acknowledged."""
    client.sendall(encode_points(sequence, counts))
    answer = legacy_wire.read_pdu(client)
    if answer.type != BATCHACK:
        raise ValueError(f"not a BATCHACK: {answer}")
