# SPDX-License-Identifier: LGPL-2.1-or-later
"""A receiver of OTLP's metrics for a Prometheus that is built without one, as all of Debian's are. It follows the
rules of Prometheus's own receiver, and hands the values on by Prometheus's protocol for remote writing."""

import urllib.request

from otlp_server import OtlpServer, attributes_of, messages

REMOTE = messages("remote_write")
UNITS = {"s": "_seconds"}


def snappy(text):
    """As literals: without compression."""
    length, rest = b"", len(text)
    while rest > 127:
        length, rest = length + bytes([rest & 127 | 128]), rest >> 7
    pieces = [text[begin:begin + 65536] for begin in range(0, len(text), 65536)]
    return length + bytes([rest]) + b"".join(b"\xf4" + (len(each) - 1).to_bytes(2, "little") + each for each in pieces)


def native(point):
    """A bucket's number is that of its upper bound, in OTLP that of its lower one."""
    made = REMOTE.Histogram(count_int=point.count, sum=point.sum, schema=point.scale, zero_count_int=point.zero_count,
                            zero_threshold=1e-128, timestamp=point.time_unix_nano // 10**6)
    for sign in ("positive", "negative"):
        buckets = getattr(point, sign)
        counts = list(buckets.bucket_counts)
        if counts:
            getattr(made, f"{sign}_spans").add(offset=buckets.offset + 1, length=len(counts))
            getattr(made, f"{sign}_deltas").extend(count - before for before, count in zip([0, *counts], counts))
    return made


def series_of(resource, metric, point):
    name = metric.name.replace(".", "_") + UNITS.get(metric.unit, "") + ("_total" if metric.sum.is_monotonic else "")
    of_process = attributes_of(resource)
    labels = attributes_of(point) | {"__name__": name, "job": of_process["service.name"],
                                     "instance": of_process["service.instance.id"]}
    series = REMOTE.Series(labels=[REMOTE.Label(name=key, value=labels[key]) for key in sorted(labels)])
    if hasattr(point, "scale"):
        series.histograms.append(native(point))
    else:
        series.samples.add(value=getattr(point, point.WhichOneof("value")), timestamp=point.time_unix_nano // 10**6)
    return series


class Receiver(OtlpServer):
    """`prometheus`: its address. `refusals` are the errors of its answers."""

    def __init__(self, prometheus):
        super().__init__()
        self._url, self.refusals = f"http://{prometheus}/api/v1/write", []

    def note(self, *request):
        before = len(self.points())
        super().note(*request)
        text = REMOTE.Request(timeseries=[series_of(*each) for each in self.points()[before:]]).SerializeToString()
        try:
            urllib.request.urlopen(urllib.request.Request(self._url, snappy(text), {
                "Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"})).close()
        except OSError as refusal:
            self.refusals.append(refusal)
