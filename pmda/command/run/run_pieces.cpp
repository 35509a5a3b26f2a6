// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/run_pieces.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

#include "command/run/noise.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostPieces = 4 * kStretches;  // of each archive and tag

double known(const std::vector<float>& column, std::size_t point) {
  return column.empty() || std::isnan(column[point]) ? 0 : static_cast<double>(column[point]);
}

RunPiece piece_at(const Series& series, const Grid& grid, std::size_t point) {
  const auto value = [&](Quantity quantity) { return known(series.of(quantity), point); };
  const WallTime end = grid.edges[point + 1];
  return {end,
          std::chrono::duration<double>(end - grid.edges[point]).count(),
          value(Quantity::Calls),
          value(Quantity::Failed),
          value(Quantity::Sum),
          value(Quantity::Counted)};
}

void join(RunPiece& all, const RunPiece& part) {
  all.end = part.end;
  all.seconds += part.seconds;
  all.calls += part.calls;
  all.failed += part.failed;
  all.sum += part.sum;
  all.counted += part.counted;
}

void join(TimedHistogram& all, const TimedHistogram& part) {
  all.end = part.end;
  all.values.merge(part.values);
}

// Appends at most kMostPieces pieces, each joined from equally many.
template <typename Item>
void append_thinned(const std::vector<Item>& items, std::vector<Item>& to) {
  const std::size_t count = std::min(items.size(), kMostPieces);
  const std::size_t first = to.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t at = first + i * count / items.size();
    if (at == to.size())
      to.push_back(items[i]);
    else
      join(to[at], items[i]);
  }
}

template <typename Item>
void sort_by_time(std::vector<Item>& items) {
  std::ranges::stable_sort(items, {}, &Item::end);
}

// The points for which the archive has samples.
std::vector<std::size_t> covered_points(const Model& archive) {
  std::vector<std::size_t> points;
  for (std::size_t point = 0; point < archive.fine.points(); ++point) {
    const bool is_covered = std::ranges::any_of(archive.series, [&](const Series& series) {
      const std::vector<float>& calls = series.of(Quantity::Calls);
      return !series.is_coarse && !calls.empty() && !std::isnan(calls[point]);
    });
    if (is_covered) points.push_back(point);
  }
  return points;
}

}  // namespace

void RunPieces::add(const Model& archive) {
  const std::vector<std::size_t> points = covered_points(archive);
  const std::size_t before = of_run_.size();
  for (const Series& series : archive.series) {
    if (series.is_coarse) continue;
    std::vector<RunPiece> all;
    all.reserve(points.size());
    for (const std::size_t point : points) all.push_back(piece_at(series, archive.fine, point));
    if (of_run_.size() == before) append_thinned(all, of_run_);
    const Tag& tag = archive.tags[series.tag];
    TagPieces& its = tags_[{tag.type, tag.name}];
    for (std::size_t i = its.of_run.size(); i < before; ++i)  // the tag was not there before
      its.of_run.push_back({of_run_[i].end, of_run_[i].seconds});
    append_thinned(all, its.of_run);
    std::erase_if(all, [](const RunPiece& piece) { return piece.calls + piece.failed == 0; });
    append_thinned(all, its.own);
    append_thinned(series.histograms, its.histograms);
  }
}

void RunPieces::finish() {
  for (auto& [key, tag] : tags_) {
    for (std::size_t i = tag.of_run.size(); i < of_run_.size(); ++i)
      tag.of_run.push_back({of_run_[i].end, of_run_[i].seconds});
    sort_by_time(tag.of_run);
    sort_by_time(tag.own);
    sort_by_time(tag.histograms);
  }
}

const TagPieces* RunPieces::find(TraceType type, const std::string& name) const {
  const auto found = tags_.find({type, name});
  return found == tags_.end() ? nullptr : &found->second;
}

}  // namespace pcp::trace::command
