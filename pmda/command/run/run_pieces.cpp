// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/run_pieces.hpp"

#include <algorithm>
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
  return {grid.edges[point + 1], known(series.of(Quantity::Calls), point),
          known(series.of(Quantity::Failed), point), known(series.of(Quantity::Sum), point)};
}

void join(RunPiece& all, const RunPiece& part) {
  all.end = part.end;
  all.calls += part.calls;
  all.failed += part.failed;
  all.sum += part.sum;
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

}  // namespace

void RunPieces::add(const Model& archive) {
  for (const Series& series : archive.series) {
    if (series.is_coarse) continue;
    std::vector<RunPiece> all;
    for (std::size_t point = 0; point < archive.fine.points(); ++point) {
      const RunPiece piece = piece_at(series, archive.fine, point);
      if (piece.calls > 0) all.push_back(piece);
    }
    const Tag& tag = archive.tags[series.tag];
    TagPieces& its = tags_[{tag.type, tag.name}];
    append_thinned(all, its.pieces);
    append_thinned(series.histograms, its.histograms);
  }
}

void RunPieces::finish() {
  for (auto& [key, tag] : tags_) {
    sort_by_time(tag.pieces);
    sort_by_time(tag.histograms);
  }
}

const TagPieces* RunPieces::find(TraceType type, const std::string& name) const {
  const auto found = tags_.find({type, name});
  return found == tags_.end() ? nullptr : &found->second;
}

}  // namespace pcp::trace::command
