// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/export_otlp.hpp"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "command/otlp/endpoint.hpp"
#include "command/otlp/metric_feed.hpp"
#include "command/otlp/metric_writer.hpp"
#include "command/otlp/span_writer.hpp"
#include "command/otlp/uplink.hpp"
#include "command/pcp/guarded_reading.hpp"
#include "command/pcp/pcp_host.hpp"
#include "command/pcp/recording_folder.hpp"
#include "command/show/shown.hpp"
#include "command/spans/recorded_traces.hpp"
#include "command/spans/watch.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

using otlp::Sent;
using otlp::Uplink;
using Only = ExportOptions::Only;

constexpr Duration kInterval = std::chrono::seconds(10);
constexpr Duration kLastAttempts = std::chrono::seconds(10);
constexpr Duration kBetweenChecks = std::chrono::milliseconds(100);

struct Endpoints {
  std::optional<otlp::Endpoint> metrics;  // nothing: not wanted
  std::optional<otlp::Endpoint> spans;
};

// Spans of running programs cost them time, so there are none unless they are asked for.
bool wants_spans(const ExportOptions& options) {
  return options.only == Only::Spans ||
         (options.only == Only::Both && (options.has_filter || !options.archives.empty()));
}

Result<Endpoints> endpoints_for(const ExportOptions& options) {
  Endpoints endpoints;
  const auto add = [&](otlp::Signal signal, std::optional<otlp::Endpoint>& to) -> Result<void> {
    auto endpoint = otlp::endpoint_for(signal, options.otlp, ::getenv);
    if (!endpoint) return endpoint.error();
    to = *std::move(endpoint);
    return {};
  };
  if (options.only != Only::Spans)
    if (const Result<void> added = add(otlp::Signal::Metrics, endpoints.metrics); !added)
      return added.error();
  if (wants_spans(options))
    if (const Result<void> added = add(otlp::Signal::Spans, endpoints.spans); !added)
      return added.error();
  return endpoints;
}

// Both uplinks of a run. Either may be null.
struct Uplinks {
  std::shared_ptr<Uplink> metrics;
  std::shared_ptr<Uplink> spans;
  bool must_leave_at_once = false;
  const bool may_send_again;  // the source is still there

  Uplinks(const Endpoints& endpoints, Uplink::WhenFull when_full)
      : may_send_again(when_full == Uplink::WhenFull::Wait) {
    if (endpoints.metrics)
      metrics = std::make_shared<Uplink>(*endpoints.metrics, "data points", when_full);
    if (endpoints.spans) spans = std::make_shared<Uplink>(*endpoints.spans, "spans", when_full);
  }

  // Sends the rest, and tells of all.
  ExportStatus finish(Duration longest) {
    const Instant until = steady_now() + longest;
    bool is_all = true;
    for (const auto& [uplink, item, only] :
         {std::tuple(metrics, "data point", "metrics"), std::tuple(spans, "span", "spans")}) {
      if (!uplink) continue;
      const Sent sent = uplink->finish(until);
      const std::string again = std::string("; --only ") + only + " sends all of them again";
      is_all &= tell_of(sent, item, may_send_again ? again : "");
      must_leave_at_once |= sent.must_leave_at_once;
    }
    return is_all ? kExported : kExportFailed;
  }

 private:
  static bool tell_of(const Sent& sent, const char* item, const std::string& again) {
    std::string text = Shown::counted(sent.accepted, item) + " accepted, in " +
                       Shown::counted(sent.requests, "request");
    const auto add = [&](std::uint64_t count, const char* what) {
      if (count > 0) text += "; " + std::to_string(count) + what;
    };
    add(sent.rejected, " rejected");
    add(sent.refused, " refused");
    add(sent.lost + sent.left_out, " not sent, or not answered");
    if (sent.lost > 0) text += again;
    complain("export", text);
    return sent.is_all();
  }
};

int export_live(const ExportOptions& options, const Endpoints& endpoints) {
  settle_environment();
  auto interruption = std::make_unique<Interruption>();
  Uplinks uplinks(endpoints, Uplink::WhenFull::DropOldest);
  const auto exemplars = std::make_shared<otlp::MetricExemplars>();
  const std::optional<Duration> interval =
      options.is_once ? std::nullopt : std::optional(options.interval.value_or(kInterval));
  std::optional<otlp::MetricFeed> feed;
  if (uplinks.metrics)
    feed.emplace(options.hosts, interval, uplinks.metrics, exemplars, uplinks.spans != nullptr);
  bool has_worked = false;
  if (uplinks.spans) {
    const auto take = [&](const SpanTrace& trace) {
      exemplars->note(trace);
      uplinks.spans->put(otlp::spans_of(trace));
      return true;
    };
    const Watched watched = watch(options, *interruption, "export", take, [&](std::size_t host) {
      if (feed) feed->tell_of(host);
    });
    tell_of(watched, "export");
    has_worked = watched.was_possible;
  } else if (options.duration) {
    interruption->come_at(steady_now() + *options.duration);
  }
  if (feed) {
    const bool is_enough = options.traces && has_worked;
    while (!is_enough && !feed->is_over() &&
           !interruption->comes_before(steady_now() + kBetweenChecks)) {
    }
    feed->finish();
    has_worked |= feed->has_worked();
  }
  interruption.reset();  // another ^C ends at once
  const ExportStatus sent = uplinks.finish(kLastAttempts);
  const ExportStatus status = has_worked ? sent : kExportFailed;
  if (uplinks.must_leave_at_once) std::_Exit(status);
  return status;
}

Result<void> send_recorded_metrics(const ExportOptions& options, Uplink& uplink) {
  for (const std::string& name : options.archives) {
    const Result<std::string> path = find_archive(name);
    if (!path) return path.error();
    Result<ArchiveSource> source = ArchiveSource::open(*path);
    if (!source) return source.error();
    otlp::MetricWriter writer(
        source->host(), [&](pmInDom domain) { return source->instances(domain); }, nullptr);
    while (true) {
      const Result<std::optional<ArchiveSample>> sample = source->next();
      if (!sample) return sample.error();
      if (!*sample) break;
      for (otlp::Piece& piece : writer.write(**sample))
        if (!uplink.put(std::move(piece))) return {};
    }
    if (const std::string why = source->why_incomplete(); !why.empty())
      complain("export", printed_name(name) + ": " + why);
  }
  return {};
}

// Gives whether there was what is wanted.
Result<bool> send_recorded(const ExportOptions& options, const Uplinks& uplinks) {
  if (uplinks.metrics)
    if (const Result<void> sent = send_recorded_metrics(options, *uplinks.metrics); !sent)
      return sent.error();
  if (!uplinks.spans) return true;
  std::uint64_t matching = 0;
  const auto read = read_recorded(options, Marks::None, [&](const SpanTrace& trace) {
    ++matching;
    return uplinks.spans->put(otlp::spans_of(trace));
  });
  if (!read) return read.error();
  if (*read) {
    tell_what_is_missing(**read, "export");
    if (matching > 0 || !options.has_filter) return true;
    complain("export", printed_name(options.archives.front()) + ": no trace matches the filter");
    return false;
  }
  if (uplinks.metrics && !options.has_filter) return true;
  tell_that_none_are_recorded(options, "export");
  return false;
}

int export_recorded(const ExportOptions& options, const Endpoints& endpoints) {
  for (const std::string& name : options.archives) {  // first: else others would be sent
    const Result<std::string> found = find_archive(name);
    const Result<ArchiveContext> opened = found ? open_archive(*found) : found.error();
    if (!opened) return fail_export(opened.error().message, kExportImpossible);
  }
  Uplinks uplinks(endpoints, Uplink::WhenFull::Wait);
  const Result<bool> read = send_recorded(options, uplinks);
  if (!read) fail_export(read.error().message, kExportImpossible);
  const ExportStatus sent = uplinks.finish(std::chrono::minutes(10));
  return !read ? kExportImpossible : *read ? sent : kExportFailed;
}

}  // namespace

int export_otlp(const ExportOptions& options) {
  const Result<Endpoints> endpoints = endpoints_for(options);
  if (!endpoints) return fail_export(endpoints.error().message, kExportImpossible);
  if (options.is_once && endpoints->spans)
    return fail_export("--once: sends metrics; leave out the filter", kExportImpossible);
  if (options.traces && !endpoints->spans)
    return fail_export(
        "-s: counts traces, and only metrics are sent; add a filter, such as share=1%",
        kExportImpossible);
  if (options.archives.empty()) return export_live(options, *endpoints);
  return guarded("export", kExportImpossible, [&] { return export_recorded(options, *endpoints); });
}

}  // namespace pcp::trace::command
