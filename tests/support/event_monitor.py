# SPDX-License-Identifier: LGPL-2.1-or-later
"""A PCP monitor that fetches events by libpcp itself, since its Python module does not unpack them."""

import collections
import ctypes
import ctypes.util
import struct

POINT, START, END, ID, PARENT, MISSED = 1, 2, 4, 8, 16, 1 << 31
U32, U64, DOUBLE, STRING = 1, 3, 5, 6
NUMBERS = {U32: "<I", U64: "<Q", DOUBLE: "<d"}
NULL_INSTANCE = 0xffffffff

Event = collections.namedtuple("Event", "time flags parameters")


class ValueBlock(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint, 24), ("type", ctypes.c_uint, 8)]


class Value(ctypes.Structure):
    _fields_ = [("instance", ctypes.c_int), ("block", ctypes.POINTER(ValueBlock))]


class ValueSet(ctypes.Structure):
    _fields_ = [("pmid", ctypes.c_uint), ("count", ctypes.c_int), ("format", ctypes.c_int),
                ("first", Value)]


class Result(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("microseconds", ctypes.c_long),
                ("count", ctypes.c_int), ("first", ctypes.POINTER(ValueSet))]


class PcpError(Exception):
    pass


libpcp = ctypes.CDLL(ctypes.util.find_library("pcp"))  # of any version
libpcp.pmErrStr.restype = ctypes.c_char_p


def _check(status):
    if status < 0:
        raise PcpError(libpcp.pmErrStr(status).decode())
    return status


def unpack(array, name_of):
    """Turns an array of event records into a list of Event, and the number of missed ones. Bytes that
    belong to no value must be 0."""
    _, count = struct.unpack_from("<II", array)
    position, events, missed = 8, [], 0
    for _ in range(count):
        seconds, microseconds, flags, parameters = struct.unpack_from("<iiII", array, position)
        position += 16
        if flags & MISSED:
            missed += parameters
            continue
        values = {}
        for _ in range(parameters):
            pmid, packed = struct.unpack_from("<II", array, position)
            kind, length = packed >> 24, (packed & 0xffffff) - 4
            value = array[position + 8:position + 8 + length]
            end = position + 8 + (length + 3) // 4 * 4
            assert not any(array[position + 8 + length:end]), "bytes that nobody has set"
            values[name_of(pmid)] = (value.decode() if kind == STRING else
                                     struct.unpack(NUMBERS[kind], value)[0])
            position = end
        events.append(Event(seconds * 10**9 + microseconds * 1000, flags, values))
    assert position == len(array)
    return events, missed


class EventMonitor:
    """One context; `missed` is the number of events that it was told it has missed."""

    def __init__(self, host):
        self._context = _check(libpcp.pmNewContext(1, host.encode()))
        self._names = {}
        self.missed = 0
        self.bytes = 0  # of the last array
        self.events_id = self.lookup("tracing.events")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        _check(libpcp.pmDestroyContext(self._context))

    def lookup(self, name):
        _check(libpcp.pmUseContext(self._context))
        pmid = ctypes.c_uint()
        _check(libpcp.pmLookupName(1, ctypes.byref(ctypes.c_char_p(name.encode())),
                                   ctypes.byref(pmid)))
        return pmid.value

    def _name_of(self, pmid):
        if pmid not in self._names:
            name = ctypes.c_char_p()
            _check(libpcp.pmNameID(pmid, ctypes.byref(name)))
            self._names[pmid] = name.value.decode().rpartition(".")[2]
        return self._names[pmid]

    def fetch(self, times=1):
        """Fetches new events, asking for the metric `times` times in one fetch. Gives the events for each
        time, None where there is no value."""
        _check(libpcp.pmUseContext(self._context))
        asked = (ctypes.c_uint * times)(*[self.events_id] * times)
        result = ctypes.POINTER(Result)()
        _check(libpcp.pmFetch(times, asked, ctypes.byref(result)))
        try:
            sets = ctypes.cast(ctypes.addressof(result.contents) + Result.first.offset,
                               ctypes.POINTER(ctypes.POINTER(ValueSet)))
            arrays = [self._array(sets[index].contents) for index in range(times)]
        finally:
            libpcp.pmFreeResult(result)
        unpacked = [array and unpack(array, self._name_of) for array in arrays]
        if unpacked[0]:
            self.missed += unpacked[0][1]
            self.bytes = len(arrays[0])
        return [each and each[0] for each in unpacked]

    @staticmethod
    def _array(values):
        _check(values.count)
        if values.count == 0:
            return None
        block = values.first.block
        return ctypes.string_at(block, block.contents.length)

    def events(self):
        """Gives new events, None if there is no value."""
        return self.fetch()[0]

    def spans(self):
        """Gives the ids of new transactions that have ended, as numbers."""
        return [int(event.parameters["span"], 16) for event in self.events() or ()
                if event.flags & END]

    def want(self, text):
        """Stores this monitor's filter."""
        _check(libpcp.pmUseContext(self._context))
        value = text.encode() + b"\0"
        memory = ctypes.create_string_buffer(4 + len(value))
        ctypes.memmove(memory, struct.pack("<I", STRING << 24 | 4 + len(value)) + value,
                       4 + len(value))
        block = ctypes.cast(memory, ctypes.POINTER(ValueBlock))
        values = ValueSet(self.events_id, 1, 1, Value(ctypes.c_int(-1), block))
        _check(libpcp.pmStore(ctypes.byref(Result(0, 0, 1, ctypes.pointer(values)))))
