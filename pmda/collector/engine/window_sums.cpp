// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/window_sums.hpp"

namespace pcp::trace::agent {

WindowSums& WindowBuckets::completed(std::int64_t interval, std::size_t most) {
  if (completed_.empty()) first_ = interval;
  const auto before = static_cast<std::size_t>(std::max<std::int64_t>(first_ - interval, 0));
  const auto after = static_cast<std::size_t>(std::max<std::int64_t>(interval + 1 - end(), 0));
  if (const std::size_t size = completed_.size() + before + after; size > completed_.capacity())
    completed_.reserve(std::max(size, std::min(2 * completed_.size(), most)));
  completed_.insert(completed_.begin(), before, WindowSums{});
  completed_.resize(completed_.size() + after);
  first_ -= static_cast<std::int64_t>(before);
  return completed_[static_cast<std::size_t>(interval - first_)];
}

void WindowBuckets::advance(std::int64_t interval, std::int64_t oldest, std::size_t most) {
  drop_before(oldest);
  if (working_.count > 0 && interval >= oldest) completed(interval, most) = working_;
  working_ = {};
  if (completed_.empty()) completed_.shrink_to_fit();
}

void WindowBuckets::drop_before(std::int64_t interval) {
  const auto dropped = std::clamp<std::int64_t>(interval - first_, 0, end() - first_);
  completed_.erase(completed_.begin(), completed_.begin() + dropped);
  first_ += dropped;
}

WindowSums WindowBuckets::total_of_completed() const {
  WindowSums total;
  for (const WindowSums& sums : completed_) total.merge(sums);
  return total;
}

}  // namespace pcp::trace::agent
