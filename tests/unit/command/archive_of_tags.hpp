// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes archives of tags for a report, sample by sample.
#pragma once

#include <cmath>
#include <filesystem>
#include <list>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "collector/engine/cumulative_histogram.hpp"
#include "command/pcp/archive_writer.hpp"
#include "command/pcp/pcp_values.hpp"
#include "command/pcp/recorded_metrics.hpp"
#include "command/run/archive_reader.hpp"
#include "metrics/label_sets.hpp"
#include "support/histograms.hpp"
#include "support/scratch_directory.hpp"
#include "unit/command/archive_fixture.hpp"
#include "unit/command/event_arrays.hpp"

namespace pcp::trace::command {

// Metrics of transactions.
inline constexpr const char* kCalls = "trace.transact.count";
inline constexpr const char* kFailed = "trace.transact.aborts";
inline constexpr const char* kFailedTime = "trace.transact.abort_time";
inline constexpr const char* kFailedRate = "trace.transact.abort_rate";
inline constexpr const char* kFailedLeast = "trace.transact.abort_min";
inline constexpr const char* kFailedMost = "trace.transact.abort_max";
inline constexpr const char* kFailedShape = "tracing.histogram.abort";
inline constexpr const char* kTime = "trace.transact.total_time";
inline constexpr const char* kRate = "trace.transact.rate";
inline constexpr const char* kLeast = "trace.transact.min_time";
inline constexpr const char* kMost = "trace.transact.max_time";
inline constexpr const char* kP99Time = "trace.transact.p99";
inline constexpr const char* kP999Time = "trace.transact.p999";
inline constexpr const char* kShape = "tracing.histogram.transact";
inline constexpr const char* kPeriod = "trace.agent.period";
inline constexpr const char* kInterval = "trace.agent.interval";
inline constexpr const char* kUptime = "trace.agent.uptime";
inline constexpr const char* kStarted = "trace.agent.started";
inline constexpr const char* kReset = "trace.agent.reset";
// Metrics of observations.
inline constexpr const char* kSeen = "trace.observe.count";
inline constexpr const char* kSeenSum = "trace.observe.sum";
inline constexpr const char* kSeenLast = "trace.observe.value";
inline constexpr const char* kSeenNonfinite = "trace.observe.nonfinite";
inline constexpr const char* kSeenShape = "tracing.histogram.observe";

// Gives the time so many seconds after 16:53:20, 1 January 2025, UTC.
inline constexpr std::int64_t kSecond0 = 1'735'750'400;
inline WallTime moment(double second) {
  return WallTime(
      std::chrono::nanoseconds(static_cast<std::int64_t>(second * 1e9) + kSecond0 * 1'000'000'000));
}

struct ArchiveKind {
  std::string host = "saturn";
  bool is_pmloggers = false;
  std::set<std::string> metrics{};  // empty: all that a report knows
  std::string time_zone = "CET-1";
  double begin = 0;
  std::string command{};  // the recorded one; empty: of an agent
  bool is_part = false;   // of a recording, without its begin and end
  bool has_spans = false;
  std::string filter{};  // of the spans; empty: unknown
};
inline const ArchiveKind kPmloggers{.is_pmloggers = true};
inline const ArchiveKind kOfCommand{.command = "./app"};

inline bool operator==(const Extreme& one, const Extreme& other) {
  return one.value == other.value && one.is_exact == other.is_exact;
}

class ArchiveOfTags {
 public:
  explicit ArchiveOfTags(const std::string& path, const ArchiveKind& kind = {})
      : writer_(std::move(*ArchiveWriter::create(
            path, {ArchiveVersion::V3, 1, stamp(kind.begin), kind.host, kind.time_zone}))) {
    if (kind.is_pmloggers || kind.is_part) begins_ = end_ = "";
    if (kind.is_pmloggers)
      writer_.add_metric(described(pmID_build(2, 3, 3), PM_TYPE_STRING, PM_INDOM_NULL),
                         "pmcd.pmlogger.host");
    if (!kind.command.empty()) {
      label(kind.begin, PM_LABEL_CONTEXT, PM_IN_NULL, PM_IN_NULL, "command", kind.command);
    }
    if (!kind.filter.empty())
      label(kind.begin, PM_LABEL_CONTEXT, PM_IN_NULL, PM_IN_NULL, "spans", kind.filter);
    if (!kind.is_pmloggers)
      writer_.add_metric(described(kState, PM_TYPE_STRING, PM_INDOM_NULL), kStateMetric);
    unsigned item = 0;
    for (const RecordedQuantity& what : kRecordedQuantities) {
      ++item;
      if (!kind.metrics.empty() && !kind.metrics.contains(what.metric)) continue;
      const pmInDom domain = is_of_tags(what.quantity) ? domain_of(what.type) : PM_INDOM_NULL;
      const int type = what.quantity == Quantity::Histogram ? PM_TYPE_STRING : PM_TYPE_DOUBLE;
      metrics_[what.metric] = described(pmID_build(10, 0, item), type, domain);
      writer_.add_metric(metrics_[what.metric], what.metric);
    }
    if (!kind.has_spans) return;
    writer_.add_metric(described_events(), kEventsMetric);
    writer_.add_metric(described(kLapses, PM_TYPE_U32, PM_INDOM_NULL), "tracing.lapses");
  }

  // Values by tag. One alone is the tag "a"'s, or the agent's.
  class Values : public std::map<std::string, Reading::Value> {
   public:
    using map::map;
    Values(double value) : map{{"a", value}} {}
    Values(const std::string& value) : map{{"a", value}} {}
  };

  // Adds a sample of all metrics without values, as `record` does at its begin.
  ArchiveOfTags& begin(double second) {
    Reading reading;
    for (const auto& [name, metric] : metrics_) reading.add(metric.pmid, {});
    add(second, reading.sample());
    return *this;
  }

  ArchiveOfTags& sample(double second, const std::map<std::string, Values>& values) {
    Reading reading;
    for (const auto& [name, of_tags] : values) {
      const pmDesc& metric = metrics_.at(name);
      std::vector<std::pair<int, Reading::Value>> numbered;
      for (const auto& [tag, value] : of_tags)
        numbered.emplace_back(number_of(metric.indom, tag), value);
      reading.add(metric.pmid, numbered);
    }
    for (const auto& [domain, added] : added_) writer_.add_instances(stamp(second), domain, added);
    added_.clear();
    add(second, reading.sample());
    return *this;
  }

  // Adds a sample of the calls of the tag "a" so far.
  ArchiveOfTags& calls(double second, double count) { return sample(second, {{kCalls, count}}); }

  ArchiveOfTags& spans(double second, const std::vector<MadeSpan>& spans,
                       std::uint64_t missed = 0) {
    writer_.add_sample(stamp(second), MadeEvents(spans, missed).sample());
    return *this;
  }

  // Says for how long the agent has run, and how often the recorder was late.
  ArchiveOfTags& uptime(double second, double uptime_s, int lapses = 0) {
    const int alone = static_cast<int>(PM_IN_NULL);
    writer_.add_sample(stamp(second), Reading()
                                          .add(metrics_.at(kUptime).pmid, {{alone, uptime_s}})
                                          .add(kLapses, {{alone, lapses}})
                                          .sample());
    return *this;
  }

  ArchiveOfTags& mark(double second) {
    writer_.add_sample(stamp(second), {});
    return *this;
  }

  // Adds the recorder's statement of the next sample.
  ArchiveOfTags& say(double second, std::string_view text) {
    writer_.add_sample(stamp(second), TextSample(kState, text).sample());
    return *this;
  }

  // The statement at the end; empty: none.
  ArchiveOfTags& end(const std::string& said) {
    end_ = said;
    return *this;
  }

  // The unit that a program has given a tag, which must have come.
  ArchiveOfTags& describe(TraceType type, double second, const std::string& tag,
                          const std::string& unit) {
    const pmInDom domain = domain_of(type);
    label(second, PM_LABEL_INSTANCES, domain, static_cast<unsigned>(numbers_.at(domain).at(tag)),
          "unit", unit);
    return *this;
  }

  // Adds a metric of the host, as `record --also` does; its instances are named "one", "two", ....
  ArchiveOfTags& host_metric(const pmDesc& metric, const std::string& name) {
    writer_.add_metric(metric, name);
    if (metric.indom != PM_INDOM_NULL)
      writer_.add_instances(writer_.last(), metric.indom, {{1, "one"}, {2, "two\x1b"}});
    return *this;
  }
  ArchiveOfTags& host(double second, pmID metric,
                      const std::vector<std::pair<int, Reading::Value>>& values) {
    writer_.add_sample(stamp(second), Reading().add(metric, values).sample());
    return *this;
  }

  // Gives the instance of this number another name from then on.
  ArchiveOfTags& rename(TraceType type, double second, int number, const std::string& name) {
    const pmInDom domain = domain_of(type);
    writer_.add_instances(stamp(second), domain, {{number, name}});
    numbers_[domain][name] = number;
    return *this;
  }

  void finish() {
    if (std::exchange(is_finished_, true)) return;
    if (!end_.empty()) writer_.add_end(kState, end_);
    ASSERT_TRUE(writer_.finish());
  }

 private:
  static inline const pmID kState = pmID_build(10, 4095, 0);
  static inline const pmID kLapses = pmID_build(10, 5, 41);

  static pmInDom domain_of(TraceType type) {
    return pmInDom_build(10, static_cast<unsigned>(index_of(type)));
  }

  static Stamp stamp(double second) {
    const auto since_1970 = moment(second).time_since_epoch();
    const auto whole = std::chrono::floor<std::chrono::seconds>(since_1970);
    return {whole.count(), static_cast<std::int32_t>((since_1970 - whole).count())};
  }

  void label(double second, unsigned type, pmInDom domain, unsigned instance,
             const std::string& name, const std::string& value) {
    agent::LabelText about;
    about.add(name, value);
    agent::LabelSets sets(1);
    sets.add(instance, about);
    pmLabelSet* released = nullptr;
    const int count = sets.release(&released);
    writer_.add_labels(stamp(second), type, domain, OwnedLabels(released, count).all());
  }

  void add(double second, const Sample& sample) {
    if (const std::string_view text = std::exchange(begins_, ""); !text.empty()) say(second, text);
    writer_.add_sample(stamp(second), sample);
  }

  int number_of(pmInDom domain, const std::string& tag) {
    if (domain == PM_INDOM_NULL) return static_cast<int>(PM_IN_NULL);
    auto& numbers = numbers_[domain];
    const auto [found, is_new] = numbers.try_emplace(tag, static_cast<int>(numbers.size()) + 1);
    if (is_new) added_[domain].emplace(found->second, tag);
    return found->second;
  }

  ArchiveWriter writer_;
  std::string_view begins_ = kBegins;
  std::string end_{kComplete};
  std::map<std::string, pmDesc> metrics_;
  std::map<pmInDom, std::map<std::string, int>> numbers_;
  std::map<pmInDom, Instances> added_;  // not yet written: with the next sample
  bool is_finished_ = false;
};

// Archives in a temporary directory of the test.
class OfArchives : public testing::Test {
 protected:
  std::string path(const std::string& name = "run") const { return scratch_ / name; }

  // Makes an archive, which is finished before it is read. It replaces an older one.
  ArchiveOfTags& make(const std::string& name = "run", const ArchiveKind& kind = {}) {
    for (const char* const suffix : {".0", ".meta", ".index"})
      std::filesystem::remove(path(name) + suffix);
    return archives_.emplace_back(path(name), kind);
  }
  ArchiveOfTags& begun(const std::string& name = "run", const ArchiveKind& kind = {}) {
    return make(name, kind).begin(kind.begin);
  }
  void finish_all() {
    for (ArchiveOfTags& each : archives_) each.finish();
  }

  Totals totals(const std::vector<std::string>& names = {"run"}, const Window& window = {}) {
    return read_or_fail(read_totals(request(names, window)));
  }
  Tag tag(const std::vector<std::string>& names = {"run"}, const Window& window = {}) {
    return totals(names, window).tags.at(0);
  }
  std::map<std::string, double> calls(const std::vector<std::string>& names = {"run"}) {
    std::map<std::string, double> calls;
    for (const Tag& tag : totals(names).tags) calls[tag.name] = tag.calls;
    return calls;
  }
  Model model(const std::vector<std::string>& names = {"run"}, const Window& window = {}) {
    return read_or_fail(read_model(request(names, window)));
  }

  ReadRequest request(const std::vector<std::string>& names = {"run"}, const Window& window = {}) {
    finish_all();
    ReadRequest request;
    for (const std::string& name : names) request.archives.push_back(path(name));
    request.window = window;
    return request;
  }

  template <typename Read>
  static Read read_or_fail(Result<Read> read) {
    if (!read) throw std::runtime_error(read.error().message);
    return *std::move(read);
  }

  const ScratchDirectory scratch_;
  const std::filesystem::path directory_ = scratch_.path();
  std::list<ArchiveOfTags> archives_;
};

// The text of a distribution since some second.
inline std::string shape(double since, const Histogram& histogram, std::uint64_t unbinned = 0) {
  const auto since_ns = static_cast<std::uint64_t>(moment(since).time_since_epoch().count());
  return agent::cumulative_histogram_text(since_ns, histogram.total(), unbinned, packed(histogram));
}
inline std::string shape(const std::vector<double>& values, std::uint64_t unbinned = 0) {
  return shape(0, histogram_of(values), unbinned);
}

// The values of a series, in which -1 stands for one that is not known: NaN is not equal to itself.
inline std::vector<float> known(std::vector<float> values) {
  for (float& each : values)
    if (std::isnan(each)) each = -1;
  return values;
}

// Requires: the tag exists.
inline const Tag& tag_of(const std::vector<Tag>& tags, std::string_view name) {
  for (const Tag& tag : tags)
    if (tag.name == name) return tag;
  throw std::out_of_range(std::string(name));
}

}  // namespace pcp::trace::command
