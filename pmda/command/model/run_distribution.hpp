// SPDX-License-Identifier: LGPL-2.1-or-later
// The distribution of one tag's values over a run, out of what an archive has of it: texts that
// each tell of all values since some time (protocol.md). Only the first and the last text of such a
// time are looked into.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/engine/cumulative_histogram.hpp"

namespace pcp::trace::command {

// A place in an archive between two marks.
using StretchNumber = std::size_t;

class RunDistribution {
 public:
  // `is_from_zero`: it tells of nothing that was before the stretch.
  void take(std::string_view text, StretchNumber stretch, bool is_from_zero);

  bool empty() const { return !total_ && last_.empty(); }

  // Nothing is to be taken after it. Nothing is known if a text was none.
  std::optional<agent::CumulativeHistogram> finish();

 private:
  void add_last();

  StretchNumber stretch_ = 0;
  std::string before_;  // what the run does not have of the last one
  std::string last_;
  bool is_broken_ = false;
  std::optional<agent::CumulativeHistogram> total_;
};

// The nanoseconds since which it counts; nothing if it is no such text.
std::optional<std::uint64_t> since_of(std::string_view text);

}  // namespace pcp::trace::command
