// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/histogram_slices.hpp"

#include <algorithm>
#include <utility>

#include "collector/engine/cumulative_histogram.hpp"
#include "command/model/run_distribution.hpp"

namespace pcp::trace::command {

void HistogramSlices::take(std::string_view text, Moment at, Moment before) {
  const auto since_ns = since_of(text);
  if (!since_ns) return;
  const Moment since{std::chrono::nanoseconds(*since_ns)};
  const std::string& last = pending_.empty() ? before_ : pending_;
  if (!has_begun_) {
    has_begun_ = true;
    if (since < before) {  // the text covers a time before the run
      before_ = text;
      begin_ = at;
      return;
    }
    begin_ = before;
  } else if (since_of(last) != since_ns) {
    cut();
    begin_ = std::max(begin_, since);
  }
  if (pending_.empty()) begin_ = std::max(begin_, before);
  pending_ = text;
  end_ = at;
  if (end_ - begin_ >= shortest_) cut();
}

void HistogramSlices::interrupt() {
  cut();
  before_.clear();
  has_begun_ = false;
}

std::vector<TimedHistogram> HistogramSlices::finish() {
  cut();
  return std::move(slices_);
}

void HistogramSlices::cut() {
  if (pending_.empty()) return;
  const auto values = agent::parse_cumulative_histogram(pending_);
  const auto before = agent::parse_cumulative_histogram(before_);
  if (values) {
    Histogram between = before ? subtract(*values, *before).histogram : values->histogram;
    if (!between.empty()) slices_.push_back({begin_, end_, std::move(between)});
  }
  before_ = std::move(pending_);
  pending_.clear();
  begin_ = end_;
}

}  // namespace pcp::trace::command
