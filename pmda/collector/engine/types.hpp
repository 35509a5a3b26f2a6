// SPDX-License-Identifier: LGPL-2.1-or-later
// Types shared by the engine and its users.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "collector/engine/label_text.hpp"
#include "collector/engine/window_sums.hpp"
#include "wire/delta.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::agent {

struct EngineOptions {
  Duration period = std::chrono::seconds(60);  // -T
  std::uint32_t buckets = 12;                  // -N
  // An interval ends when it is read, and no batch is late. So each value is in one window, however
  // late a busy machine delivers or reads. Requires: one bucket.
  bool is_paced_by_reader = false;
  std::uint32_t max_tags = 100'000;              // of all types together; beyond it: kOverflowName
  std::size_t max_histogram_bytes = 64u << 20;   // beyond it histograms are coarsened
  std::size_t max_cumulative_bytes = 64u << 20;  // --histogram-memory: of the cumulative ones

  // Additional room beyond max_tags, for bare names of tags with labels that have no room.
  std::uint32_t room_for_bare_names() const { return std::max(max_tags / 100, 1u); }
  std::uint32_t most_tags() const { return max_tags + room_for_bare_names(); }
};

// Identifies a tag until the next reset.
using TagIndex = std::uint32_t;

// The sender of a tag, for instance labels.
struct Origin {
  std::string owner;      // the user's name, as the limits use it
  std::uint32_t pid = 0;  // from the kernel, or over TCP as the process claims
  LabelText labels{};     // the labels that the process gives itself
};

inline constexpr std::array kQuantiles{0.50, 0.90, 0.95, 0.99, 0.999};

// Additions to a counter. Their calls also count in `total.count`, but do not change its last
// value.
struct Increments {
  std::uint64_t calls = 0;
  double sum = 0;
};

// One process's open transactions of a tag: begun and not ended.
struct OpenShare {
  std::uint64_t holder = 0;  // distinguishes the shares of one tag
  std::uint64_t open = 0;
  Instant began{};        // of the oldest transaction
  std::uint32_t pid = 0;  // 0: unknown
  std::uint32_t tid = 0;  // thread that began the oldest; 0: ended, or unknown
};

// All values for the metrics of one instance.
struct TagValues {
  std::int32_t instance = 0;
  Delta total;  // since the tag appeared or returned after a reset; `last` is the last value
  Increments increments;  // in the same time
  Delta failed;  // transactions that failed, in the same time. Nonfinite: without a duration

  // Over the completed buckets; only valid if in_window.
  bool in_window = false;
  WindowSums window;
  WindowSums failed_window;  // the same of `failed`; no count: none
  bool has_quantiles = false;
  std::array<double, kQuantiles.size()> quantiles{};
  double quantile_error = 0;  // the greatest relative error; grows when memory is short

  // Open transactions: begun and not ended.
  struct InFlight {
    std::uint64_t open = 0;
    Duration oldest_age{};  // of the oldest; if none is open, 0, like pid and tid
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint64_t vanished = 0;  // ended with their process, in the time of `total`
  };
  InFlight in_flight;
};

// Which transactions a distribution has. Values of other types are completed.
enum class Outcome : std::uint8_t { Completed, Failed };

// The distribution of one instance's values since some time.
struct CumulativeSample {
  std::int32_t instance = 0;
  bool left_out = false;  // no room for it: the other members are meaningless
  Instant since{};
  std::uint64_t count = 0;     // values that are binned
  std::uint64_t unbinned = 0;  // finite values that are not binned
  std::string packed;          // as histogram_codec.hpp says
};

struct InstanceName {
  std::int32_t instance = 0;
  std::uint8_t suffixes = 0;                     // for shown_name(), for PCP's tools
  std::string tag;                               // as the program gave it
  std::shared_ptr<const Origin> origin;          // null if unknown, or without common labels
  LabelText::Set labels_kept = 0;                // the origin's labels that all processes share
  std::shared_ptr<const LabelText> description;  // null if there is none
};

// One number for each type.
using Numbers = std::array<std::int32_t, kTraceTypes.size()>;

// A tag's number from an earlier life of the agent.
struct KnownInstance {
  TraceType type{};
  std::string tag;
  std::int32_t instance = 0;
  std::uint32_t absent = 0;  // agent ends and resets since the tag had values; 0: it has values now
  bool operator==(const KnownInstance&) const = default;
};

struct EngineCounters {
  std::uint64_t tags = 0;         // active ones
  std::uint64_t overflowed = 0;   // calls counted in "(overflow)", for want of room for their tag
  std::uint64_t folded = 0;       // calls of tags without room, counted at their bare name
  std::uint64_t coarsenings = 0;  // how often all histograms lost half of their resolution
  std::uint64_t histogram_bytes = 0;
  std::uint64_t cumulative_bytes = 0;
  std::uint64_t late = 0;       // calls too old for the window: not shown there
  std::uint64_t rotations = 0;  // intervals completed
};

// Instances are numbered 1, 2, 3 ... for each type, in the order of their first values, after the
// highest known number. Instance 0 is kOverflowName, for tags without room.
inline constexpr std::int32_t kOverflowInstance = 0;

}  // namespace pcp::trace::agent
