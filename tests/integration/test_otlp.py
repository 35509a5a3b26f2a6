# SPDX-License-Identifier: LGPL-2.1-or-later
"""pcp-trace export --otlp: servers get exactly what programs have called, once, whatever the servers answer and whatever
ends and comes back; what they lack is said."""

import collections
import contextlib
import random
import re
import signal
import socket
import ssl

import legacy_wire
import recorded
import test_record_spans
from cutting_proxy import CuttingProxy, Tunnel
from events_wire import POINT, encode_span
from otlp_server import Answer, Endless, Half, Nothing, OtlpServer, attributes_of, partial, refusal
from private_pmcd import completed, stopped, wait_until
from test_histograms import OFTEN
from test_spans import BEGIN, SpansTestCase
from trace_test import program

SERVICE = "pcp-trace"  # of tags that are not split by service


class OtlpTestCase(SpansTestCase):
    def serve(self, *answers, context=None):
        return self.enterContext(OtlpServer(answers, context).listen())

    def export(self, server, *words, **options):
        return self.start("--otlp", server.url, *words, word="export", **options)

    def end_export(self, process, status=0, stop=True):
        """Ends it, by ^C or by itself. Gives its lines on standard error."""
        if stop:
            process.send_signal(signal.SIGINT)
        out, complaints = self.end(process, status)
        self.assertEqual(out, "")
        return complaints.splitlines()

    def assert_accepted(self, line, count, item, rest=""):
        self.assertRegex(line, rf"^pcp-trace export: {count:,} {item}s? accepted, in [\d,]+ requests?{re.escape(rest)}$")

    def capture(self, server, *words, **variables):
        """Gives a handmade program, and an export of its spans only."""
        program = self.program()
        process = self.export(server, "--only", "spans", *words, variables=variables)
        program.wait_for_filters("tag=*")
        return program, process


def stream_of(resource, metric, point):
    """Gives the same for all values of one thing."""
    attributes = attributes_of(point)
    return (attributes_of(resource)["service.name"], metric.name, attributes.pop("tag", None), attributes.pop("outcome", None),
            *sorted(f"{key}={value}" for key, value in attributes.items()))


def value_of(point):
    """A number's value, or a distribution's count."""
    kind = "count" if hasattr(point, "scale") else point.WhichOneof("value")
    return getattr(point, kind)


def series_of(server):
    """Gives the points of each stream, by start."""
    streams = collections.defaultdict(lambda: collections.defaultdict(list))
    for resource, metric, point in server.points():
        streams[stream_of(resource, metric, point)][point.start_time_unix_nano].append(point)
    return streams


def last_values(server, of):
    """Gives the last values of streams for which of(stream, start) is true."""
    return {stream: value_of(points[-1]) for stream, starts in series_of(server).items() for start, points in starts.items()
            if of(stream, start)}


def call(program, rng, log):
    """Makes a call, and adds it to a log of values by stream."""
    tag, labels = rng.choice([("order", ()), ("order", ("region=eu",)), ("order", ("region=us", "tier=web"))])
    name = tag + ("{" + ";".join(labels) + "}" if labels else "")
    kind, value = rng.choice(["end", "abort", "point", "obs", "add"]), rng.randrange(1, 1000)

    def note(metric, outcome=None, by=1):
        log[(SERVICE, f"trace.{metric}", tag, outcome, *labels)] += by
    if kind in ("end", "abort"):
        program.do(f"begin {name}", f"{kind} {name}")
        note("transact.count", "completed" if kind == "end" else "failed")
        return
    program.do(f"point {name}" if kind == "point" else f"{kind} {value} {name}")
    kind = {"obs": "observe", "add": "counter"}.get(kind, kind)
    note(f"{kind}.count")
    if kind != "point":
        note("observe.sum" if kind == "observe" else "counter.total", by=value)


class Metrics(OtlpTestCase):
    def assert_sound(self, server):
        """No stream ever decreases, nor begins after its point; a point of a distribution has as many values as its
        buckets."""
        for stream, starts in series_of(server).items():
            latest = 0
            for start, points in starts.items():
                if start == 0:  # of a level
                    continue
                self.assertGreater(start, latest, stream)
                for before, point in zip([None, *points], points):
                    self.assertLessEqual(start, point.time_unix_nano, stream)
                    if before:
                        self.assertLess(before.time_unix_nano, point.time_unix_nano, stream)
                        self.assertLessEqual(value_of(before), value_of(point), stream)
                    if hasattr(point, "scale"):
                        self.assertEqual(point.count, point.zero_count + sum(point.positive.bucket_counts) +
                                         sum(point.negative.bucket_counts))
                latest = points[-1].time_unix_nano - 1  # a restart may come at that time

    def wait_for_log(self, server, log, since=0):
        """Waits until the last points that began after some time are the program's log."""
        def last():
            found = last_values(server, lambda stream, start: start > since and re.search("count$|sum$|total$", stream[1]))
            return {stream: value for stream, value in found.items() if value}
        with contextlib.suppress(TimeoutError):
            wait_until(lambda: last() == log, what="the log's values")
        self.assertEqual(last(), log)

    def test_are_the_programs_log_also_over_restarts_of_agent_and_pmcd(self):
        rng, server = random.Random(5), self.serve()
        program = self.start_traced(self.environment(PCP_TRACE_RECONNECT="0.05", PCP_TRACE_FLUSH=5))
        process = self.export(server, "-t", "50ms")
        since = 0
        for end, start in ((None, None), (self.pmcd.kill_agent, self.pmcd.start_agent),
                           (self.pmcd.end_pmcd, self.pmcd.start_pmcd)):
            log = collections.Counter()
            if end:
                end()
                call(program, rng, log)  # counts with the next agent
                start()
            for _ in range(300):
                call(program, rng, log)
            self.wait_for_log(server, log, since)
            times = last_values(server, lambda stream, start: start > since and stream[1] == "trace.transact.time")
            self.assertAlmostEqual(sum(times.values()), sum(self.pmcd.values("trace.transact.total_time").values()) +
                                   sum(self.pmcd.values("trace.transact.abort_time").values()), places=6)
            since = max(start for starts in series_of(server).values() for start in starts)
        lines = self.end_export(process)
        self.assert_sound(server)
        # A quick restart may come between two readings.
        self.assertEqual([line.endswith(" is back") for line in lines[:-1]], [False, True] * (len(lines) // 2), lines)
        self.assert_accepted(lines[-1], len(server.points()), "data point")

    def test_are_of_their_service(self):
        self.pmcd = self.start_pmcd(["--split=service,rank"], host_name="jupiter")
        for service in ("shop", "bank"):
            self.trace(self.environment(PCP_TRACE_SERVICE=service, PCP_TRACE_LABELS="rank=3"), "point a")
        server = self.serve()
        lines = self.end_export(self.export(server, "--once"), stop=False)
        self.assert_accepted(lines[-1], len(server.points()), "data point")
        found = last_values(server, lambda stream, _: stream[1] == "trace.point.count")
        self.assertEqual(found, {(service, "trace.point.count", "a", None, "rank=3"): 1 for service in ("shop", "bank")})
        self.assertLessEqual({"host.name": "jupiter", "service.instance.id": "jupiter"}.items(),
                             attributes_of(server.points()[0][0]).items())

    def test_go_on_soon_after_a_long_outage(self):
        proxy = self.enterContext(CuttingProxy(self.pmcd.pmcd_port))
        server = self.serve()
        process = self.export(server, "-t", "100ms", "-h", f"127.0.0.1:{proxy.port}", hosts=[])
        wait_until(server.points, what="a reading")
        with stopped(self.pmcd.pmcd_pid()):
            # By default PCP's library would make the sixth attempt after 75 s.
            wait_until(lambda: proxy.cut() or proxy.connections >= 6, what="six attempts", timeout=60)
        self.wait_for_complaint(process, " is back\n")
        self.end_export(process)


class Spans(OtlpTestCase):
    def assert_sent(self, server, program, count):
        """Each span of `count` requests is there once, with what belongs to it."""
        spans = server.spans()
        by_id = {span.span_id: span for _, span in spans}
        self.assertEqual(len(by_id), len(spans))
        self.assertEqual(collections.Counter(span.name for _, span in spans), {"request": count, "query": count})
        for resource, span in spans:
            attributes = attributes_of(span)
            if span.name == "request":
                self.assertEqual((span.parent_span_id, span.status.code, attributes["route"]), (b"", 0, "/cart"))
                self.assertEqual([event.name for event in span.events], ["hit"])
            else:
                parent = by_id[span.parent_span_id]
                self.assertEqual((parent.name, parent.trace_id), ("request", span.trace_id))
                self.assertEqual((attributes["rows"], attributes["table"]), (12.0, "a"))
                self.assertEqual((span.status.code, span.status.message), (2, "declined"))
                self.assertLessEqual(parent.start_time_unix_nano, span.start_time_unix_nano)
                self.assertLessEqual(span.end_time_unix_nano, parent.end_time_unix_nano)
            self.assertLessEqual({"service.name": "shop", "process.pid": program}.items(), attributes_of(resource).items())

    REQUEST = ("begin 0 request", "note 0 route /cart", "point hit", "begin 1 query{table=a}", "number 1 rows 12",
               "fail 1 declined", "end 0")

    def test_of_a_program_come_once_and_stand_beside_distributions(self):
        self.pmcd = self.start_pmcd([*OFTEN, "--split=service"])
        server = self.serve()
        traced = self.start_traced(self.environment(PCP_TRACE_SERVICE="shop", PCP_TRACE_FLUSH=5), "traces")
        traced.do("begin 0 first", "end 0")
        process = self.export(server, "-t", "100ms", "tag=request", "kind=point")
        # The agent must know the program, and the export its distributions.
        wait_until(lambda: traced.call("begin 0 request") or traced.call("captured 0") or traced.call("abort 0"),
                   what="a capture")
        traced.do("end 0")
        wait_until(server.spans, what="the first span")
        server.accepted.clear()
        for _ in range(50):
            traced.do(*self.REQUEST)
        wait_until(lambda: len(server.spans()) == 100, what="all spans")
        sent = {span.span_id: span for _, span in server.spans()}
        wait_until(lambda: any(point.exemplars for *_, point in server.points() if hasattr(point, "scale")), what="an exemplar")
        self.assert_sent(server, traced.pid, 50)
        for resource, metric, point in server.points():
            for exemplar in getattr(point, "exemplars", ()):
                tag, outcome = stream_of(resource, metric, point)[2:4]
                span = sent[exemplar.span_id]
                self.assertEqual((tag, outcome == "failed", exemplar.trace_id),
                                 (span.name, span.status.code == 2, span.trace_id))
        self.end_export(process)

    def test_of_a_recording(self):
        folder, server = self.path("run.trace"), self.serve()
        run = test_record_spans.Recorded(folder, "tag=request kind=point", PCP_TRACE_SERVICE="shop")
        self.addCleanup(run.kill)
        run.do(*self.REQUEST * 50)
        pid = recorded.program_of(run)
        run.end()
        lines = self.end_export(self.export(server, "-a", folder, hosts=[]), stop=False)
        self.assert_sent(server, pid, 50)
        counts = last_values(server, lambda stream, _: stream[1] == "trace.transact.count")
        self.assertEqual({(stream[2], stream[3]): value for stream, value in counts.items() if value},
                         {("request", "completed"): 50, ("query", "failed"): 50})
        self.assert_accepted(lines[0], len(server.points()), "data point")
        self.assert_accepted(lines[1], 100, "span")
        lines = self.end_export(self.export(server, "-a", folder, "--only", "spans", "tag=none", hosts=[]), 1, stop=False)
        self.assertIn("run.trace: no trace matches the filter", lines[0])

    def test_that_are_chosen_here(self):
        """By words that are not for programs."""
        server, program = self.serve(), self.program()
        process = self.export(server, "note.route=/cart", "-s", "1")
        program.wait_for_filters("tag=*")
        self.send_traces(program, 100)
        program.send(encode_span(span=7, trace=(8, 1), begin_ns=BEGIN, attributes=[(b"route", b"/cart")]))
        self.end_export(process, stop=False)
        self.assertEqual([span.span_id for _, span in server.spans()], [bytes(7) + b"\x07"])


class Delivery(OtlpTestCase):
    def send_through(self, server, program):
        """Sends spans until there are no more answers of the test's. Gives the number of spans."""
        sent = 0
        while server.answers:
            before = server.requests
            self.send_traces(program, 100, first=sent + 1)
            sent += 100
            wait_until(lambda: server.requests > before, what="a request")
        return sent

    def accepted_spans(self, server):
        """Gives the number of accepted spans. None is there twice."""
        ids = [span.span_id for _, span in server.spans()]
        self.assertEqual(len(set(ids)), len(ids))
        return len(ids) - sum(request.rejected for request in server.accepted)

    def test_is_once_whatever_a_server_answers(self):
        good = Answer()
        server = self.serve(Answer(503, headers={"Retry-After": "1"}), good, Answer(429), Answer(504), Half(), Nothing(),
                            Nothing(reads=False), Answer(body=b"\x0a\xff<html>"), Endless(), Answer(body=b"\xff" * 5000), good)
        program, process = self.capture(server)
        sent = self.send_through(server, program)
        wait_until(lambda: self.accepted_spans(server) == sent, what="all spans")
        lines = self.end_export(process)
        self.assertEqual(self.accepted_spans(server), sent)
        self.assert_accepted(lines[-1], sent, "span")
        self.assertIn(f"{server.url}/v1/traces: HTTP status 503, wants a pause of 1 s; trying again", lines[0])
        self.assertIn(f"{server.url}/v1/traces takes spans again", lines[1])

    def test_that_fails_is_counted(self):
        server = self.serve(partial(3, "too \x1b[31mold\n"), Answer(503), refusal(400, "no\x1b]0;x\x07"),
                            Answer(404), Answer(500))
        program, process = self.capture(server)
        sent = self.send_through(server, program)
        self.send_traces(program, 100, first=sent + 1)
        program.send(encode_span(kind=POINT, span=0, trace=(0, 0), begin_ns=BEGIN))  # of no transaction
        wait_until(lambda: len(server.accepted) > 1, what="a good answer")
        lines = self.end_export(process, 1)
        self.assertFalse([line for line in lines if line.endswith(" takes spans again")])
        accepted = self.accepted_spans(server)  # of those that were refused none was tried again
        self.assert_accepted(lines[-1], accepted, "span", f"; 3 rejected; {sent + 100 - 3 - accepted} refused; "
                             "1 not sent, or not answered")
        self.assertRegex("\n".join(lines), r"rejects 3 spans: too \\x1b\[31mold.*\n.* HTTP status 503; trying again\n"
                         r".* refuses \d+ spans: HTTP status 400: no\\x1b\]0;x\\x07\n.* HTTP status 404\n.* HTTP status 500\n")

    def test_waits_for_a_server_that_is_away(self):
        """And the end need not wait for the next attempt, nor leave it out."""
        server = self.enterContext(OtlpServer([Nothing()] * 5))
        program, process = self.capture(server)
        self.send_traces(program, 100)
        self.wait_for_complaint(process, "; trying again\n")
        server.listen()
        self.send_traces(program, 100, first=101)
        wait_until(lambda: server.requests == 5, what="a pause that is longer than the end would wait")
        lines = self.end_export(process)
        self.assertEqual(self.accepted_spans(server), 200)
        self.assertRegex(lines[0], " takes spans again$")
        self.assert_accepted(lines[-1], 200, "span")

    def test_waits_for_a_long_pause_only_with_an_archive(self):
        folder, server = self.path("run.trace"), self.serve(*[Answer(429, headers={"Retry-After": "100"})] * 2)
        lines = self.end_export(self.export(server, "--once"), 1, stop=False)
        self.assertTrue(lines[0].endswith(": HTTP status 429, wants a pause of 100 s; given up"), lines)
        done = recorded.record(folder, program("traces"), input="point a\n", environment=self.nobody())
        self.assertEqual(done.returncode, 0, done.stderr)
        process = self.export(server, "-a", folder, hosts=[])
        self.wait_for_complaint(process, ": HTTP status 429, wants a pause of 100 s; trying again\n")
        process.kill()

    def test_ends_although_a_server_hangs(self):
        server = self.serve(*[Nothing(hangs=True)] * 1000)
        for variables in ({"OTEL_EXPORTER_OTLP_TIMEOUT": "200"}, {"OTEL_EXPORTER_OTLP_TIMEOUT": "1000000"}):
            before = server.requests
            program, process = self.capture(server, **variables)
            self.send_traces(program, 100)
            wait_until(lambda: server.requests > before, what="a request")
            if variables["OTEL_EXPORTER_OTLP_TIMEOUT"] == "200":
                self.wait_for_complaint(process, " milliseconds with 0 bytes received; trying again\n")
            lines = self.end_export(process, 1)
            if variables["OTEL_EXPORTER_OTLP_TIMEOUT"] != "200":
                self.assertRegex(lines.pop(0), ": no answer until the end; given up$")
            self.assertEqual(lines, ["pcp-trace export: 0 spans accepted, in 0 requests; 100 not sent, or not answered"])
            program.socket.close()


class Variables(OtlpTestCase):
    def once(self, server, status=0, **variables):
        """Sends the metrics as they are, as variables say. Gives the lines on standard error."""
        process = self.start("--once", *(["--otlp", server] if server else []), word="export",
                             variables={f"OTEL_EXPORTER_OTLP_{name}": value for name, value in variables.items()})
        return self.end_export(process, status, stop=False)

    def certificate(self, name):
        """Makes a key and a certificate that signs itself. Gives their paths."""
        key, certificate = self.path(name + ".key"), self.path(name + ".crt")
        completed("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                  "-keyout", key, "-out", certificate, "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", check=True)
        return key, certificate

    def test_name_the_server_and_what_it_wants(self):
        server = self.serve()
        lines = self.once(None, ENDPOINT=server.url + "/", HEADERS="api-key=a%20b,tenant=7", COMPRESSION="none")
        self.assert_accepted(lines[0], len(server.points()), "data point")
        (request,) = server.accepted
        self.assertEqual(request.path, "/v1/metrics")
        self.assertLessEqual({"api-key": "a b", "tenant": "7", "Content-Type": "application/x-protobuf"}.items(),
                             request.headers.items())
        self.assertNotIn("Content-Encoding", request.headers)

    def test_name_proxies(self):
        key, certificate = self.certificate("server")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        plain, secret = self.serve(), self.serve(context=context)
        tunnel = self.enterContext(Tunnel(secret.server_address[1]))
        variables = {"http_proxy": plain.url, "https_proxy": f"http://127.0.0.1:{tunnel.port}",
                     "OTEL_EXPORTER_OTLP_CERTIFICATE": certificate}
        for url, direct in (("http://nowhere.invalid:4318", ""), (plain.url, "127.0.0.1"), (secret.url, "")):
            process = self.start("--once", "--otlp", url, word="export", variables=variables | {"no_proxy": direct})
            self.end_export(process, stop=False)
        # A proxy gets whole addresses.
        self.assertEqual([request.path for request in plain.accepted], ["http://nowhere.invalid:4318/v1/metrics", "/v1/metrics"])
        self.assertEqual((len(secret.accepted), tunnel.connections), (1, 1))

    def test_have_certificates(self):
        (key, certificate), (own_key, own) = self.certificate("server"), self.certificate("client")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(own)
        context.verify_mode = ssl.CERT_REQUIRED
        server = self.serve(context=context)
        lines = self.once(server.url, CERTIFICATE=certificate, CLIENT_CERTIFICATE=own, CLIENT_KEY=own_key)
        self.assert_accepted(lines[0], len(server.points()), "data point")
        # It tries for ten seconds each.
        for why, variables in ((r"SSL certificate problem: self[- ]signed certificate", {}),
                               (".+", {"CERTIFICATE": certificate})):
            lines = self.once(server.url, 1, **variables)
            self.assertRegex(lines[0], rf"^pcp-trace export: {server.url}/v1/metrics: {why}; trying again$")
            self.assertRegex(lines[1], r": 0 data points accepted, in 0 requests; \d+ not sent, or not answered$")
        self.assertEqual(len(server.accepted), 1)


class Faults(OtlpTestCase):
    """Each gets one sentence."""

    def test_of_usage(self):
        for words, why, variables in (
                (["--otlp", "localhost:4318"], '--otlp: "localhost:4318" is no address; wanted is http://HOST:PORT or ', {}),
                (["--otlp", "http://a", "--once", "tag=a"], "--once: sends metrics; leave out the filter", {}),
                (["--otlp", "http://a", "--chrome", "x"], "--otlp: leave out --chrome, or --otlp", {}),
                (["--otlp", "http://a", "-a", self.path("none")], f"{self.path('none')}: ", {}),
                ([], "OTEL_EXPORTER_OTLP_PROTOCOL: pcp-trace speaks http/protobuf only",
                 {"PROTOCOL": "grpc", "ENDPOINT": "http://a"})):
            process = self.start(*words, word="export", hosts=[],
                                 variables={f"OTEL_EXPORTER_OTLP_{name}": value for name, value in variables.items()})
            (line,) = self.end_export(process, 2, stop=False)
            self.assertTrue(line.startswith("pcp-trace export: " + why), line)

    def test_of_one_host_are_none_of_the_others(self):
        server, unknown = self.serve(), "x" * 70
        process = self.export(server, "-h", unknown, "-t", "100ms")
        self.wait_for_complaint(process, f"{unknown}: cannot connect to pmcd: unknown or unreachable host\n")
        before = len(server.accepted)
        wait_until(lambda: len(server.accepted) > before + 1, what="further readings")
        self.assert_accepted(self.end_export(process)[-1], len(server.points()), "data point")
        lines = self.end_export(self.export(server, "tag=*", "-h", unknown, hosts=[]), 1, stop=False)
        self.assertEqual(len(lines), 3, lines)  # one of the host, two of what was sent

    def test_of_a_host_are_said_once(self):
        """Although two readers see them: that of spans, if there is one, and that of metrics."""
        server = self.serve()
        for unix, back in ((True, " is back; an unknown number of spans is missing\n"), (False, " is back\n")):
            process = self.export(server, "-t", "100ms", "tag=*", unix=unix)
            if not unix:
                self.wait_for_complaint(process, "--capture-remote\n")
            server.accepted.clear()
            wait_until(server.points, what="a reading")
            self.pmcd.kill_agent()
            self.assertTrue(process.stderr.readline().endswith("; waiting for it\n"))
            self.pmcd.start_agent()
            self.assertTrue(process.stderr.readline().endswith(back))
            server.accepted.clear()
            wait_until(server.points, what="a reading")
            self.assertNotRegex("\n".join(self.end_export(process)), "waiting for it| is back")

    def test_of_one_archive_send_nothing_of_the_others(self):
        folder, server = self.path("run.trace"), self.serve()
        done = recorded.record(folder, program("traces"), input="point a\n", environment=self.nobody())
        self.assertEqual(done.returncode, 0, done.stderr)
        (line,) = self.end_export(self.export(server, "-a", folder, self.path("none"), hosts=[]), 2, stop=False)
        self.assertIn("none: ", line)
        lines = self.end_export(self.export(server, "-a", folder, "--only", "spans", hosts=[]), 1, stop=False)
        self.assertIn("has no single transactions", lines[0])
        self.assertEqual(server.requests, 0)

    def test_in_tags_stay_in_them(self):
        server = self.serve()
        tags = [b"new\nline", b"\x1b[2J", b"\xff\xfe", b"x" * 250, b"{", b"a{b=\xff\x01}"]
        with socket.create_connection(("127.0.0.1", self.pmcd.trace_port)) as stock:
            legacy_wire.read_ack(stock)
            stock.sendall(b"".join(legacy_wire.encode_data("point", tag, 1) for tag in tags))
            self.pmcd.wait_for("trace.agent.records", {None: len(tags)})
        program, process = self.program(tags=tags), self.export(server, "tag=*")
        program.wait_for_filters("tag=*")
        program.send(*(encode_span(tag=number + 1, span=number + 1, begin_ns=BEGIN, attributes=[(b"k\xfe", b"\xff\x1b[2J\n")])
                       for number in range(len(tags))))
        wait_until(lambda: len(server.spans()) == len(tags), what="the spans")
        self.end_export(process)
        shown = [r"new\x0aline", r"\x1b[2J", r"\xff\xfe", "x" * 250, "{", r"a{b=\xff\x01}"]
        self.assertEqual(sorted(span.name for _, span in server.spans()), sorted(shown))
        self.assertEqual({attributes_of(span)[r"k\xfe"] for _, span in server.spans()}, {"\\xff\\x1b[2J\n"})
        values = last_values(server, lambda stream, _: stream[1] == "trace.point.count")
        self.assertEqual(sorted(stream[2] for stream in values), sorted(shown))
