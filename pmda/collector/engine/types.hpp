// SPDX-License-Identifier: LGPL-2.1-or-later
// The words that the engine and those who use it have in common.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "collector/engine/label_text.hpp"
#include "wire/delta.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::agent {

// A steady clock's reading. Only differences matter.
using Time = std::chrono::nanoseconds;

struct EngineOptions {
  Time period = std::chrono::seconds(60);        // -T
  std::uint32_t buckets = 12;                    // -N
  std::uint32_t max_tags = 100'000;              // of all types together; beyond it: kOverflowName
  std::size_t max_histogram_bytes = 64u << 20;   // beyond it histograms are coarsened
  std::size_t max_cumulative_bytes = 64u << 20;  // --histogram-memory: of the cumulative ones

  // Beyond max_tags there is a little room for names whose tags with labels have none.
  std::uint32_t room_for_bare_names() const { return std::max(max_tags / 100, 1u); }
  std::uint32_t most_tags() const { return max_tags + room_for_bare_names(); }
};

// What the engine calls a tag, until the next reset.
using TagIndex = std::uint32_t;

// Who sends a tag, for instance labels.
struct Origin {
  std::string owner;      // the user, by the name that limits know it by
  std::uint32_t pid = 0;  // as the kernel says, or as the process claims over TCP
  LabelText labels{};     // what the process says of itself
};

inline constexpr std::array kQuantiles{0.50, 0.90, 0.95, 0.99, 0.999};

// What was added to a counter. The calls are in its count, too, and leave its last value alone.
struct Increments {
  std::uint64_t calls = 0;
  double sum = 0;
};

// What one process has in flight of a tag: transactions that it has begun and not ended.
struct OpenShare {
  std::uint64_t holder = 0;  // tells the shares of one tag apart
  std::uint64_t open = 0;
  Time began{};           // the oldest of them
  std::uint32_t pid = 0;  // 0: unknown
  std::uint32_t tid = 0;  // the thread that began the oldest; 0: it has ended, or is unknown
};

// Everything the metrics of one instance need.
struct TagValues {
  std::int32_t instance = 0;
  Delta total;  // since the tag appeared or came back after a reset; `last` is the last value
  Increments increments;  // in that time

  // Over the completed buckets; meaningless if the window holds nothing for this tag. Of `window`
  // count, nonfinite, sum, min and max are kept.
  bool in_window = false;
  Delta window;
  bool has_quantiles = false;
  std::array<double, kQuantiles.size()> quantiles{};
  double quantile_error = 0;  // at most, as a part of the true value; more where memory is short

  // Transactions that were begun and have not ended.
  struct InFlight {
    std::uint64_t open = 0;
    Time oldest_age{};  // of the oldest; 0 if there is none, as are the next two
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint64_t vanished = 0;  // went with their process, in the time of `total`
  };
  InFlight in_flight;
};

// The distribution of one instance's values in one interval.
struct IntervalHistogram {
  std::int32_t instance = 0;
  Time end{};          // of the interval
  std::string packed;  // as histogram_codec.hpp says; never empty
};

// The distribution of one instance's values since some time.
struct CumulativeSample {
  std::int32_t instance = 0;
  bool left_out = false;  // there was no room for it: the rest says nothing
  Time since{};
  std::uint64_t count = 0;     // values that are binned
  std::uint64_t unbinned = 0;  // finite ones that are not
  std::string packed;          // as histogram_codec.hpp says
};

struct InstanceName {
  std::int32_t instance = 0;
  std::uint8_t suffixes = 0;             // what shown_name() wants to know, for PCP's tools
  std::string tag;                       // as the program gave it
  std::shared_ptr<const Origin> origin;  // null if unknown, or if processes have nothing in common
  LabelText::Set labels_kept = 0;        // those of its labels that all processes have
  std::shared_ptr<const LabelText> description;  // null if nobody gave one
};

// A number of each type.
using Numbers = std::array<std::int32_t, kTraceTypes.size()>;

// A number that a tag had in an earlier life of the agent.
struct KnownInstance {
  TraceType type{};
  std::string tag;
  std::int32_t instance = 0;
  std::uint32_t absent =
      0;  // ends of the agent, and resets, since the tag had values; 0: it has now
  bool operator==(const KnownInstance&) const = default;
};

struct EngineCounters {
  std::uint64_t tags = 0;        // active ones
  std::uint64_t overflowed = 0;  // calls that went to "(overflow)" for want of room for their tag
  std::uint64_t folded = 0;      // calls whose tag had labels and no room: their bare name has them
  std::uint64_t coarsenings = 0;  // times that histograms lost half of their resolution
  std::uint64_t histogram_bytes = 0;
  std::uint64_t cumulative_bytes = 0;
  std::uint64_t late = 0;       // calls that were too old for the window: in the totals only
  std::uint64_t rotations = 0;  // intervals completed
};

// Instances are numbered 1, 2, 3 ... for each type as their first values arrive, after the highest
// known number. Instance 0 is kOverflowName: the tags for which there was no room.
inline constexpr std::int32_t kOverflowInstance = 0;

}  // namespace pcp::trace::agent
