// SPDX-License-Identifier: LGPL-2.1-or-later
// How the distribution of one tag's values changes over a run: slices of time, out of what one
// archive has of it (run_distribution.hpp).
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
  // What comes sooner after the last slice goes into one with what follows.
  explicit HistogramSlices(std::chrono::nanoseconds shortest) : shortest_(shortest) {}

  // A text of this time. `before`: when the archive had texts of any tag last, or began.
  void take(std::string_view text, Moment at, Moment before);

  // What follows is after a gap.
  void interrupt();

  std::vector<TimedHistogram> finish();

 private:
  void cut();

  std::chrono::nanoseconds shortest_;
  std::string before_;   // what the next slice does not have; of the last slice's end
  std::string pending_;  // for the next slice; empty if there is nothing
  Moment begin_{};       // of the next slice
  Moment end_{};
  bool has_begun_ = false;
  std::vector<TimedHistogram> slices_;
};

}  // namespace pcp::trace::command
