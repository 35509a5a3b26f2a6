// SPDX-License-Identifier: LGPL-2.1-or-later
// What is known of a recorded run: of each tag its totals, and of some their course over time. Made
// by archive_reader.hpp out of archives; shown by the summary, the page and all else of `report`.
//
// What is not known is not there: an empty optional, or NaN in a series. It is never a guess.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command/traces/span_trace.hpp"
#include "wire/histogram.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::command {

// Of the wall clock.
using Moment = std::chrono::sys_time<std::chrono::nanoseconds>;

// The percentiles that agents give.
inline constexpr std::array kPercentiles{0.50, 0.90, 0.95, 0.99, 0.999};
inline constexpr std::array kPercentileNames{"p50", "p90", "p95", "p99", "p999"};
inline constexpr std::size_t kP50 = 0, kP90 = 1, kP95 = 2, kP99 = 3, kP999 = 4;

// Where a tag's percentiles come from, or why there are none.
enum class PercentileSource {
  Histogram,       // of all finite values of the run, merged over time and hosts: at most 2% off
  NearlyAllCalls,  // of a histogram that lacks at most one call in a hundred
  WholeIntervals,  // of a histogram of an agent's intervals: not quite the run's calls at its ends
  OneValue,        // all calls have the same
  OneWindow,       // the agent's own: one window of its has all calls of the run
  NoCalls,         // none: nothing was called
  NoFiniteValues,  // none: all values are infinite or no numbers
  NotRecorded,     // none: the agent or the recording has none for this tag
  SeveralWindows,  // none: those of several windows cannot be put together
  SeveralHosts,    // none: nor can those of several hosts
  IncompleteHistogram,  // none: there is a histogram, but it lacks more
};

inline bool is_of_histogram(PercentileSource source) {
  return source == PercentileSource::Histogram || source == PercentileSource::NearlyAllCalls ||
         source == PercentileSource::WholeIntervals;
}

// The least or greatest value of the run. If it is not exact, it is of some of the calls: the true
// one may lie further out, never further in.
struct Extreme {
  double value = 0;
  bool is_exact = false;
};

// When a tag was slowest: the sample with the greatest maximum or, without maxima, p99; or a
// captured transaction that took longer.
struct SlowestMoment {
  // The sample's, which tells of the time before, or the transaction's end. Nothing: only the
  // distribution knows of it, which knows no times, and `value` is where its highest bin begins.
  std::optional<Moment> at;
  double value = 0;
  bool is_p99 = false;
};

// All of a tag over the whole run, all hosts added up. Times are in seconds.
struct Tag {
  std::string name;  // as PCP has it, from a program: any bytes, not always UTF-8
  TraceType type{};
  std::string unit;  // of what is observed or counted, as PCP or the program has it; often empty
  std::string description;  // by the program: what it stands for; often empty

  double calls = 0;  // completed transactions, points passed, values, reports of a counter
  std::optional<double> failed;       // transactions aborted, which `calls` has not
  std::optional<double> vanished;     // transactions that were open when their program ended
  std::optional<double> nonfinite;    // of `calls`: no finite values, which nothing else below has
  std::optional<double> sum;          // of durations, or of observed values
  std::optional<double> rate;         // calls per second of the run
  std::optional<double> mean;         // sum / calls
  std::optional<double> concurrency;  // of transactions: how many were under way, on average
  std::optional<Extreme> min;
  std::optional<Extreme> max;
  std::array<std::optional<double>, kPercentiles.size()> percentiles;
  PercentileSource percentile_source = PercentileSource::NotRecorded;
  std::optional<double> last;     // value observed or reported; of the host that said so last
  std::optional<double> counted;  // added to a counter in this run
  std::optional<SlowestMoment> slowest;

  // The distribution of `distribution->total()` of the finite values. Calls that a thread had no
  // room for are in the sums only, and so are those of a time before distributions were taken.
  std::optional<Histogram> distribution;

  std::vector<std::uint16_t> hosts;  // that have it, as indices of Run::hosts, ascending
};

// A time in which nothing was recorded although the run went on.
struct Gap {
  Moment begin{};
  Moment end{};
  std::uint16_t host = 0;
};

// Calls may be missing.
struct Incomplete {
  std::string archive;
  std::string why;
};

// The facts of the run.
struct Run {
  std::vector<std::string> archives;     // as they were named
  std::vector<std::string> hosts;        // each once
  std::vector<Incomplete> incomplete{};  // of them, those that are known not to be complete
  std::string command;                   // that was recorded; empty if unknown
  std::string filter{};                  // for which spans were captured; likewise
  std::string time_zone;                 // to show times in, as TZ has it; empty: this machine's
  Moment begin{};
  Moment end{};
  std::size_t samples = 0;                           // of all archives
  std::optional<std::chrono::nanoseconds> interval;  // usual time between two samples
  std::vector<Gap> gaps;                             // by time
  std::chrono::nanoseconds unrecorded{};             // in which all hosts have gaps

  double elapsed_s() const {
    return std::chrono::duration<double>(end - begin - unrecorded).count();
  }
};

// Edges of intervals, ascending: point i of a series is of the time from edge i to edge i + 1. Not
// always of the same length. No points if there are fewer than two edges.
struct Grid {
  std::vector<Moment> edges;
  std::size_t points() const { return edges.empty() ? 0 : edges.size() - 1; }
};

// A distribution of the values of a part of the run.
struct TimedHistogram {
  Moment begin{};
  Moment end{};
  Histogram values;
};

// The course of one tag over the points of a grid. Each vector is empty if there is nothing of its
// kind, else as long as the grid. NaN: nothing is known of that time.
struct Series {
  std::size_t tag = 0;       // index of Model::tags
  bool is_coarse = false;    // on Model::coarse rather than Model::fine
  std::vector<float> calls;  // in each interval, not per second
  std::vector<float> failed;
  std::vector<float> sum;      // divided by the interval's length: how many were under way
  std::vector<float> counted;  // added to a counter in each interval
  std::vector<float> value;    // last one of an observation or counter

  // The least and greatest of the agents' windows that ended in the interval. Of percentiles the
  // greatest window's, and only where one host has the tag.
  std::vector<float> min;
  std::vector<float> max;
  std::array<std::vector<float>, kPercentiles.size()> percentiles;

  std::vector<TimedHistogram> histograms;  // by time, not overlapping; for a heat map
};

// Of one tag's transactions that were not aborted.
struct LongestSpan {
  std::uint64_t duration_ns = 0;
  Moment end{};
};

// The single transactions that were captured in the run.
struct RecordedSpans {
  std::uint64_t traces = 0;
  std::uint64_t spans = 0;   // and events
  std::uint64_t missed = 0;  // likewise: captured, but not recorded
  std::vector<SpanTrace> slowest;
  std::map<std::string, LongestSpan> longest{};  // by tag
  std::vector<std::string> cut{};                // the archives whose end is missing
  bool has_gap = false;                          // more are missing, nobody knows how many
};

// All of one run.
struct Totals {
  Run run;
  std::vector<Tag> tags;  // most total time first, then most calls, then by name
};

struct Model : Totals {
  Grid fine;
  Grid coarse;
  std::vector<Series> series;          // of the tags that come first
  std::optional<RecordedSpans> spans;  // nothing: none were asked for
  std::optional<Totals> base;          // the older run to compare with
};

}  // namespace pcp::trace::command
