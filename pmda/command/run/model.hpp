// SPDX-License-Identifier: LGPL-2.1-or-later
// The data of a recorded run: totals of each tag, and the course of some tags over time.
// archive_reader.hpp makes it from archives; `report` shows it in the summary, the page and
// elsewhere.
//
// Unknown data is absent: an empty optional, or NaN in a series. It is never guessed.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "command/pcp/recorded_metrics.hpp"
#include "command/run/requests.hpp"
#include "command/run/span_trace.hpp"
#include "wire/histogram.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::command {

// The percentiles that agents give.
inline constexpr std::array kPercentiles{0.50, 0.90, 0.95, 0.99, 0.999};
inline constexpr std::array kPercentileNames{"p50", "p90", "p95", "p99", "p999"};
inline constexpr std::size_t kP50 = 0, kP90 = 1, kP95 = 2, kP99 = 3, kP999 = 4;

// The source of a tag's percentiles, or why there are none.
enum class PercentileSource {
  Histogram,       // of all finite values of the run on all hosts: at most 2% error
  NearlyAllCalls,  // of a histogram that lacks at most 1% of the calls
  WholeIntervals,  // of a histogram of an agent's intervals: lacks calls at the run's both ends
  NearbyTimes,  // of a histogram that lacks calls of the run's ends, or has some from beyond them
  OneValue,     // all calls have the same value
  OneWindow,    // the agent's percentiles of one window, which has all calls of the run
  NoCalls,      // none: no calls
  NoFiniteValues,       // none: all values are infinite or NaN
  NotRecorded,          // none: the agent or the recording has none for this tag
  SeveralWindows,       // none: percentiles of several windows cannot be combined
  SeveralHosts,         // none: percentiles of several hosts cannot be combined
  SeveralTags,          // none: percentiles of several label sets cannot be combined
  CompletedAndFailed,   // none: percentiles of completed and failed calls cannot be combined
  IncompleteHistogram,  // none: the histogram lacks too many calls
};

inline bool is_of_histogram(PercentileSource source) {
  return source == PercentileSource::Histogram || source == PercentileSource::NearlyAllCalls ||
         source == PercentileSource::WholeIntervals || source == PercentileSource::NearbyTimes;
}

// The least or greatest value of the run. If inexact, it covers only some calls: the true extreme
// is at least as far out.
struct Extreme {
  double value = 0;
  bool is_exact = false;
};

inline std::optional<double> value_of(const std::optional<Extreme>& extreme) {
  return extreme ? std::optional(extreme->value) : std::nullopt;
}

// When a tag was slowest: the begin of its longest transaction if that one was captured, else the
// sample with the greatest maximum (without maxima: the greatest p99).
struct SlowestMoment {
  // The begin, or the time of the sample. Nothing: from the distribution, which has no times; then
  // `value` is the lower edge of its highest bin.
  std::optional<WallTime> at;
  double value = 0;
  bool is_p99 = false;
  bool is_begin = false;
  // For a sample: the length of the time before it in which the call ended. Nothing: unknown.
  std::optional<double> within_s{};
};

// The durations of calls in seconds, or the values that were observed.
struct CallValues {
  bool lacks_times = false;    // some failed calls have no duration: older libraries give none
  std::optional<double> sum;   // of durations or observed values
  std::optional<double> mean;  // of the finite values
  std::optional<double> busy;  // transactions in progress, on average
  std::optional<Extreme> min;
  std::optional<Extreme> max;
  std::array<std::optional<double>, kPercentiles.size()> percentiles;
  PercentileSource percentile_source = PercentileSource::NotRecorded;
  std::optional<SlowestMoment> slowest;

  // The distribution of `distribution->total()` finite values. Calls that a thread had no room for,
  // and calls before distributions were recorded, are missing from it.
  std::optional<Histogram> distribution;
  double outside = 0;  // values in it that are from before or after the run
};

struct Endings;

// A tag's totals over the whole run and all hosts.
struct Tag : CallValues {
  std::string name;  // in PCP's form, from a program: any bytes, maybe invalid UTF-8
  TraceType type{};
  std::string unit;         // of observed or counted values, from PCP or the program; often empty
  std::string description;  // from the program; often empty

  double calls = 0;  // transactions that ended, points passed, values, reports of a counter
  std::optional<double> failed;      // those of `calls` that failed: aborted transactions
  std::optional<double> vanished;    // transactions open when their program ended
  std::optional<double> in_flight;   // open now; only of a host that is watched
  std::optional<double> nonfinite;   // of observations: non-finite values in `calls`, not counted
                                     // elsewhere
  std::optional<double> rate;        // calls per second of the run
  std::optional<Ending> times_of{};  // the calls that CallValues are of; nothing: all
  std::optional<double> last;        // value observed or reported last, on any host
  std::optional<double> counted;     // added to a counter in this run

  std::vector<std::uint16_t> hosts;  // hosts with the tag, as ascending indices of Run::hosts

  // Null: no call failed, and CallValues are of all calls.
  std::shared_ptr<const Endings> endings{};

  // The sum of the tags of Run::folded that have its name; null: none.
  std::shared_ptr<const Tag> folded{};
  bool is_folded = false;  // it is one of those tags: perhaps no call is its own
};

// Both parts of a tag.
struct Endings {
  Tag completed;
  Tag failed;

  const Tag& of(Ending ending) const { return ending == Ending::Failed ? failed : completed; }
};

// The calls that ended so; nothing: in any way.
inline double calls_with(std::optional<Ending> ending, double calls, double failed) {
  if (!ending) return calls;
  return *ending == Ending::Failed ? failed : calls - failed;
}

// The calls that have its values.
inline double valued_calls(const Tag& tag) {
  return calls_with(tag.times_of, tag.calls, tag.failed.value_or(0));
}

inline bool has_failed(const Tag& tag) { return tag.failed.value_or(0) > 0; }

// Gives the amount that was added to a counter; nothing if it is unknown, or if the program only
// set the counter.
inline std::optional<double> added_to(const Tag& tag) {
  return tag.calls > 0 && tag.counted == 0.0 ? std::nullopt : tag.counted;
}

// The most calls that may have a finite value.
inline double finite_calls(const Tag& tag) { return valued_calls(tag) - tag.nonfinite.value_or(0); }

// Durations are always finite, if they are known.
inline bool may_have_nonfinite(const Tag& tag) {
  return tag.nonfinite ? *tag.nonfinite > 0 : tag.type == TraceType::Observe || tag.lacks_times;
}

// The total of the tags of one name with one value of a label: time, sum, calls, or what was added.
struct LabelValue {
  std::string value;
  double total = 0;
};

// The totals of one name by one of its labels, which has several values.
struct Imbalance {
  TraceType type{};
  std::string name;  // without labels
  std::string label;
  std::size_t count = 0;  // of values
  double mean = 0;        // over the values
  double least = 0;
  std::vector<LabelValue> values;  // the greatest ones, descending
  std::string least_value{};

  double greatest() const { return values.front().total; }
  double ratio() const { return greatest() / mean; }
};

// A time in the run without recorded samples.
struct Gap {
  WallTime begin{};
  WallTime end{};
  std::uint16_t host = 0;
};

// An archive that may lack calls.
struct Incomplete {
  std::string archive;
  std::string why;
};

// Facts about the run.
struct Run {
  std::vector<std::string> archives;     // names as given
  std::vector<std::string> hosts;        // without duplicates
  std::vector<Incomplete> incomplete{};  // archives known to be incomplete
  // Calls for whose tags or labels an agent had no room, and tags that were too long for the labels
  // of --split: any tag may lack these calls, or have them.
  double without_room = 0;
  double unsplit = 0;  // of these: the tags
  // A tag with labels may have had no room in its process or in the agent: then its calls count for
  // a tag of the same name with fewer labels.
  bool may_have_folded = false;
  // Any tag may have had no room: then its calls count for kOverflowName. Else this is a program's
  // own tag.
  bool may_have_overflowed = false;
  // Those tags, added up as in the report, also if it leaves them out. Tag::is_folded is false if
  // the report has them in a group with all calls that may be theirs: then its sums are exact.
  std::vector<Tag> folded{};
  std::string command;               // recorded command; empty if unknown
  std::string filter{};              // filter of captured spans; empty if unknown
  std::optional<Ending> times_of{};  // the only calls whose times the report shows
  std::string time_zone;             // for shown times, as in TZ; empty: this machine's
  WallTime begin{};
  WallTime end{};
  std::size_t samples = 0;                           // of all archives
  std::optional<std::chrono::nanoseconds> interval;  // median time between two samples
  std::vector<Gap> gaps;                             // sorted by time
  // Time when all hosts have gaps; with several runs the time from `begin` to `end`, less that of
  // each; negative if they overlap.
  std::chrono::nanoseconds unrecorded{};

  double elapsed_s() const {
    return std::chrono::duration<double>(end - begin - unrecorded).count();
  }
  std::optional<double> interval_s() const {
    if (!interval) return {};
    return std::chrono::duration<double>(*interval).count();
  }
};

// Ascending edges of intervals: point i of a series covers the time from edge i to edge i + 1.
// Lengths may differ. Fewer than two edges: no points.
struct Grid {
  std::vector<WallTime> edges;
  std::size_t points() const { return edges.empty() ? 0 : edges.size() - 1; }
};

// The distribution of values in a part of the run.
struct TimedHistogram {
  WallTime begin{};
  WallTime end{};
  Histogram values;
};

// The course of one tag over the points of a grid.
struct Series {
  std::size_t tag = 0;     // index of Model::tags
  bool is_coarse = false;  // on Model::coarse rather than Model::fine

  // Each vector has the grid's length, or is empty if there is no such data. NaN: unknown.
  // - Quantities that only grow: the growth in each interval, not per second. The average number of
  //   transactions that ended in it is Sum divided by the interval's length.
  // - Last: the last value of an observation or counter.
  // - InFlight: the transactions that were open at the interval's last sample, on all hosts.
  // - Extremes over the agent's windows that ended in the interval. Percentiles: the greatest of
  //   those windows, of completed calls, and only if one host has the tag.
  std::array<std::vector<float>, index_of(Quantity::Histogram)> columns;
  std::vector<float>& of(Quantity quantity) { return columns[index_of(quantity)]; }
  const std::vector<float>& of(Quantity quantity) const { return columns[index_of(quantity)]; }

  std::vector<TimedHistogram> histograms;  // sorted by time, not overlapping; for a heat map
};

// A tag's longest transaction of those whose times the report shows.
struct LongestSpan {
  std::uint64_t duration_ns = 0;
  WallTime end{};

  WallTime begin() const { return end - std::chrono::nanoseconds(duration_ns); }
  double duration_s() const { return static_cast<double>(duration_ns) / 1e9; }
};

// Requests that were open when a process died.
struct Died {
  static constexpr std::size_t kMostNamed = 5;

  std::uint64_t requests = 0;
  std::vector<OpenRequest> longest{};  // those that were open for longest, in this order

  std::uint64_t more() const { return requests - longest.size(); }
};

// The single transactions captured in the run.
struct RecordedSpans {
  std::uint64_t traces = 0;
  std::uint64_t spans = 0;   // including events
  std::uint64_t missed = 0;  // captured but not recorded, including events
  std::vector<SpanTrace> slowest;
  std::vector<Requests> requests{};
  std::uint64_t not_in_requests = 0;  // traces that lack spans, and requests of further tags
  Died died{};
  std::map<std::string, LongestSpan> longest{};  // by tag
  // By tag: a captured transaction was inside another one. No entry: none of the tag was captured.
  std::map<std::string, bool> is_nested{};
  std::map<std::string, std::string> groups{};  // the sum that a captured tag is a part of
  std::vector<std::string> cut{};               // archives whose end is missing
  bool has_gap = false;                         // more are missing, in unknown number
  // slower= of all the recordings, the least one: in each trace a transaction took so long. 0:
  // there are others, or that is not known.
  std::uint64_t slower_ns = 0;
  std::uint32_t reasons = 0;           // of all the recordings' filters, that each trace has
  std::vector<SpanTrace> exemplars{};  // of each moment and size; only for the page
};

// One value of PCP's own metrics of a host over the run: of a metric without instances, or of one
// instance. Counters are rates.
struct HostValue {
  std::string metric;
  std::optional<std::string> instance{};
  std::string host;
  std::string unit;  // in words; often empty
  bool is_rate = false;
  double least = 0;
  double mean = 0;  // over the time
  double greatest = 0;
  double known_s = 0;           // the time that has values
  std::vector<float> points{};  // means on Model::fine, NaN: unknown; empty: not in the page
};

// The totals of one run.
struct Totals {
  Run run;
  std::vector<Tag> tags;                // sorted by most total time, most calls, name
  std::vector<Imbalance> imbalances{};  // of all label sets, also if tags were added up
};

struct Model : Totals {
  Grid fine;
  Grid coarse;
  std::vector<Series> series;            // of the first tags
  std::optional<RecordedSpans> spans;    // nothing: not requested
  std::vector<HostValue> host_values{};  // by metric, the greatest first; with the spans
  std::optional<Totals> base;            // the older run to compare with
};

}  // namespace pcp::trace::command
