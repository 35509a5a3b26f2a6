// SPDX-License-Identifier: LGPL-2.1-or-later
// The distributions of one tag's values over slices of a run, made from the texts in one archive
// (run_distribution.hpp).
//
// Thread: one.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "command/model/model.hpp"

namespace pcp::trace::command {

class HistogramSlices {
 public:
  // A slice shorter than this is joined with the next.
  explicit HistogramSlices(std::chrono::nanoseconds shortest) : shortest_(shortest) {}

  // Takes the text at a time. `before`: the archive's previous time with texts, or its begin.
  void take(std::string_view text, Moment at, Moment before);

  // A gap: later texts start a new slice.
  void interrupt();

  std::vector<TimedHistogram> finish();

 private:
  void cut();

  std::chrono::nanoseconds shortest_;
  std::string before_;   // the text at the last slice's end, to subtract
  std::string pending_;  // the newest text for the next slice; empty: none
  Moment begin_{};       // of the next slice
  Moment end_{};
  bool has_begun_ = false;
  std::vector<TimedHistogram> slices_;
};

}  // namespace pcp::trace::command
