# SPDX-License-Identifier: LGPL-2.1-or-later
"""Version 1 of the trace protocol, for tests with raw sockets."""

import collections
import struct

ACK = 0x7050
DATA = 0x7051
TYPES = {"transact": 1, "point": 2, "observe": 3, "counter": 4}
WANTS_ACK = 0x80

Pdu = collections.namedtuple("Pdu", "type pid payload")
Data = collections.namedtuple("Data", "version type wants_ack value tag")


def encode_pdu(pdu_type, payload, pid=4711):
    return struct.pack(">III", 12 + len(payload), pdu_type, pid) + payload


def encode_ack(code):
    return encode_pdu(ACK, struct.pack(">i", code))


def encode_data(kind, tag, value=-1.0, wants_ack=False, pid=4711):
    tag_bytes = (tag if isinstance(tag, bytes) else tag.encode()) + b"\0"
    padding = b"~" * (-len(tag_bytes) % 4)
    payload = struct.pack(">BBBBd", 1, len(tag_bytes), TYPES[kind], WANTS_ACK * wants_ack, value)
    return encode_pdu(DATA, payload + tag_bytes + padding, pid)


def decode_data(payload):
    version, length, kind, flags, value = struct.unpack(">BBBBd", payload[:12])
    return Data(version, kind, flags == WANTS_ACK, value, payload[12:12 + length - 1].decode())


def read_exactly(connection, size):
    """Reads `size` bytes; EOFError if the peer goes before."""
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def read_pdu(connection):
    header = read_exactly(connection, 12)
    length, pdu_type, pid = struct.unpack(">III", header)
    return Pdu(pdu_type, pid, read_exactly(connection, length - 12))


def read_ack(connection):
    """Reads one PDU, which must be an ACK, and gives its number."""
    pdu = read_pdu(connection)
    if pdu.type != ACK:
        raise ValueError(f"not an ACK: {pdu}")
    return struct.unpack(">i", pdu.payload)[0]
