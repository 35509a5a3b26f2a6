// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/time_grid.hpp"

#include <algorithm>

namespace pcp::trace::command {

namespace {

using Samples = std::vector<WallTime>;

// Concatenates the lists in order; nothing if two overlap.
std::optional<Samples> one_after_the_other(std::vector<Samples> all) {
  std::erase_if(all, [](const Samples& samples) { return samples.empty(); });
  std::sort(all.begin(), all.end());
  Samples joined;
  for (const Samples& samples : all) {
    if (!joined.empty() && samples.front() < joined.back()) return {};
    joined.insert(joined.end(), samples.begin(), samples.end());
  }
  joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
  return joined;
}

// Picks edges for at most `most_points` points, including the first and the last edge.
Samples thinned(const Samples& edges, std::size_t most_points) {
  if (edges.size() <= most_points + 1) return edges;
  const std::size_t step = (edges.size() - 2) / most_points + 1;
  Samples some;
  for (std::size_t i = 0; i + 1 < edges.size(); i += step) some.push_back(edges[i]);
  some.push_back(edges.back());
  return some;
}

// Intervals of equal length (rounded to nanoseconds), as many as the densest archive has.
Samples regular(const std::vector<Samples>& all, std::size_t most_points) {
  WallTime begin = WallTime::max();
  WallTime end = WallTime::min();
  std::chrono::nanoseconds step = std::chrono::nanoseconds::max();
  for (const Samples& samples : all) {
    if (samples.size() < 2) continue;
    begin = std::min(begin, samples.front());
    end = std::max(end, samples.back());
    step = std::min(
        step, (samples.back() - samples.front()) / static_cast<std::int64_t>(samples.size() - 1));
  }
  if (begin >= end) return {};
  step = std::max(
      {step, (end - begin) / static_cast<std::int64_t>(most_points), std::chrono::nanoseconds(1)});
  const std::int64_t points = std::max<std::int64_t>((end - begin) / step, 1);
  Samples edges;
  for (std::int64_t i = 0; i < points; ++i) edges.push_back(begin + i * step);
  edges.push_back(end);
  return edges;
}

}  // namespace

Grid make_grid(const std::vector<std::vector<WallTime>>& samples, std::size_t most_points) {
  if (const auto joined = one_after_the_other(samples)) return {thinned(*joined, most_points)};
  return {regular(samples, most_points)};
}

void TimeGrid::set(WallTime from, WallTime to) {
  if (from == from_ && to == to_) return;
  from_ = from;
  to_ = to;
  shares_.clear();
  if (to <= from) return;
  // The first interval that ends after `from`.
  const auto end = std::upper_bound(edges_.begin(), edges_.end(), from);
  first_ = end == edges_.begin() ? 0 : static_cast<std::size_t>(end - edges_.begin()) - 1;
  const auto all = static_cast<double>((to - from).count());
  for (std::size_t i = first_; i < points() && edges_[i] < to; ++i) {
    const auto part = std::min(to, edges_[i + 1]) - std::max(from, edges_[i]);
    shares_.push_back(static_cast<double>(part.count()) / all);
  }
}

void TimeGrid::cover() {
  for_each_share([this](std::size_t point, double) { is_covered_[point] = true; });
}

std::optional<std::size_t> TimeGrid::last() const {
  const auto end = std::lower_bound(edges_.begin(), edges_.end(), to_);
  if (end == edges_.end() || points() == 0) return {};
  return end == edges_.begin() ? 0 : static_cast<std::size_t>(end - edges_.begin()) - 1;
}

}  // namespace pcp::trace::command
