// SPDX-License-Identifier: LGPL-2.1-or-later
// The distributions of one tag's values over slices of a run, made from the cumulative texts in one
// archive (protocol.md). For each slice only the first and the last text are parsed.
//
// Thread: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/run/model.hpp"

namespace pcp::trace::command {

class HistogramSlices {
 public:
  // A slice shorter than this is joined with the next, unless the tag has no values for so long in
  // between. Slices on both sides of a gap are joined if both together last half as long.
  explicit HistogramSlices(std::chrono::nanoseconds shortest = std::chrono::nanoseconds::max())
      : shortest_(shortest) {}

  // Takes the text at a time. `before`: the text's new values are from after this time.
  // `is_from_zero`: the text covers nothing before that time. `lags`: it lacks the latest values,
  // of an agent's running interval. So older values may be in the next text that differs.
  void take(std::string_view text, WallTime at, WallTime before, bool is_from_zero,
            bool lags = false);

  // A gap: later texts start a new slice.
  void interrupt();

  struct Found {
    std::vector<TimedHistogram> slices;  // without empty ones
    std::uint64_t unbinned = 0;          // finite values that are in no slice
    bool has_texts = false;
    bool has_invalid_text = false;
  };

  // Nothing may be taken afterwards.
  Found finish();

 private:
  void cut();
  void add_slice(Histogram values);

  std::chrono::nanoseconds shortest_;
  std::string before_;   // the text at the last slice's end, to subtract
  std::string pending_;  // the newest text for the next slice; empty: none
  WallTime begin_{};     // of the next slice
  WallTime end_{};
  bool has_begun_ = false;
  Found found_;
};

// The text's start of counting; nothing if the text is invalid.
std::optional<WallTime> since_of(std::string_view text);

}  // namespace pcp::trace::command
