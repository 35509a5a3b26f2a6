// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/histogram_slices.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "collector/engine/cumulative_histogram.hpp"

namespace pcp::trace::command {

std::optional<WallTime> since_of(std::string_view text) {
  if (!text.starts_with("1 ")) return {};
  std::uint64_t since = 0;
  const auto [end, error] = std::from_chars(text.begin() + 2, text.end(), since);
  if (error != std::errc() || end == text.end() || *end != ' ') return {};
  return WallTime{std::chrono::nanoseconds(since)};
}

void HistogramSlices::take(std::string_view text, WallTime at, WallTime before, bool is_from_zero,
                           bool lags) {
  found_.has_texts = true;
  const std::optional<WallTime> since = since_of(text);
  if (!since) {
    found_.has_invalid_text = true;
    return;
  }
  const std::string& last = pending_.empty() ? before_ : pending_;
  if (!has_begun_) {
    has_begun_ = is_from_zero || !lags || (!before_.empty() && before_ != text);
    if (!is_from_zero) {
      before_ = text;
      begin_ = at;
      return;
    }
    begin_ = before;
  } else if (since_of(last) != since) {
    cut();
    begin_ = std::max(begin_, *since);
  }
  if (before - end_ >= shortest_) cut();
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

HistogramSlices::Found HistogramSlices::finish() {
  cut();
  return std::move(found_);
}

void HistogramSlices::cut() {
  if (pending_.empty()) return;
  auto values = agent::parse_cumulative_histogram(pending_);
  const auto before = agent::parse_cumulative_histogram(before_);
  found_.has_invalid_text |= !values || (!before && !before_.empty());
  if (values && before) values = subtract(*values, *before);
  if (values) {
    found_.unbinned += values->unbinned;
    add_slice(std::move(values->histogram));
  }
  before_ = std::move(pending_);
  pending_.clear();
  begin_ = end_;
}

void HistogramSlices::add_slice(Histogram values) {
  if (values.empty()) return;
  std::vector<TimedHistogram>& slices = found_.slices;
  if (slices.empty() || end_ - slices.back().begin >= shortest_ / 2) {
    slices.push_back({begin_, end_, std::move(values)});
    return;
  }
  slices.back().end = end_;
  slices.back().values.merge(values);
}

}  // namespace pcp::trace::command
