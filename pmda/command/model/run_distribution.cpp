// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/run_distribution.hpp"

#include <charconv>

namespace pcp::trace::command {

std::optional<std::uint64_t> since_of(std::string_view text) {
  if (!text.starts_with("1 ")) return {};
  std::uint64_t since = 0;
  const auto [end, error] = std::from_chars(text.begin() + 2, text.end(), since);
  if (error != std::errc() || end == text.end() || *end != ' ') return {};
  return since;
}

void RunDistribution::take(std::string_view text, StretchNumber stretch, bool is_from_zero) {
  if (!last_.empty() && (stretch != stretch_ || since_of(text) != since_of(last_))) {
    add_last();
    before_.clear();
    // A restart within a stretch counts from 0.
    is_from_zero = is_from_zero || stretch == stretch_;
  }
  if (last_.empty() && !is_from_zero) before_ = text;
  stretch_ = stretch;
  last_ = text;
}

std::optional<agent::CumulativeHistogram> RunDistribution::finish() {
  if (!last_.empty()) add_last();
  if (is_broken_) return {};
  return std::move(total_);
}

void RunDistribution::add_last() {
  auto values = agent::parse_cumulative_histogram(last_);
  const auto before = agent::parse_cumulative_histogram(before_);
  last_.clear();
  if (!values || (!before && !before_.empty())) {
    is_broken_ = true;
    return;
  }
  if (before) values = subtract(*values, *before);
  if (!total_) {
    total_ = std::move(values);
    return;
  }
  total_->unbinned += values->unbinned;
  total_->histogram.merge(values->histogram);
}

}  // namespace pcp::trace::command
