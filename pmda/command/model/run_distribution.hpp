// SPDX-License-Identifier: LGPL-2.1-or-later
// The distribution of one tag's values over a run, made from an archive's cumulative texts
// (protocol.md). For each start of counting only the first and the last text are parsed.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/engine/cumulative_histogram.hpp"

namespace pcp::trace::command {

// Number of an archive's stretch between two marks.
using StretchNumber = std::size_t;

class RunDistribution {
 public:
  // `is_from_zero`: the text covers nothing before the stretch.
  void take(std::string_view text, StretchNumber stretch, bool is_from_zero);

  bool empty() const { return !total_ && last_.empty(); }

  // Nothing may be taken afterwards. Nothing if a text that was parsed is invalid.
  std::optional<agent::CumulativeHistogram> finish();

 private:
  void add_last();

  StretchNumber stretch_ = 0;
  std::string before_;  // values before the run, to subtract from `last_`
  std::string last_;
  bool is_broken_ = false;
  std::optional<agent::CumulativeHistogram> total_;
};

// The text's start of counting in nanoseconds; nothing if the text is invalid.
std::optional<std::uint64_t> since_of(std::string_view text);

}  // namespace pcp::trace::command
