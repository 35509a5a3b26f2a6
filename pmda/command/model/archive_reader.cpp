// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/archive_reader.hpp"

#include <algorithm>
#include <utility>

#include "command/model/recorded_spans.hpp"
#include "command/model/run_totals.hpp"
#include "command/model/tag_series.hpp"
#include "command/model/time_grid.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kFineSeries = 50;
constexpr std::size_t kFinePoints = 3600;
constexpr std::size_t kCoarseSeries = 500;
constexpr std::size_t kCoarsePoints = 120;

// Calls function(source, changes) for each archive.
template <typename Function>
Result<void> for_each_archive(const ReadRequest& request, TagNames& names, Function function) {
  for (const std::string& path : request.archives) {
    Result<ArchiveSource> source = ArchiveSource::open(path);
    if (!source) return source.error();
    ArchiveChanges changes(*source, names, request.window);
    if (Result<void> read = function(*source, changes); !read) return read;
  }
  return {};
}

Result<void> read_totals_of(const ReadRequest& request, TagNames& names, RunTotals& totals) {
  return for_each_archive(request, names, [&](ArchiveSource& source, ArchiveChanges& changes) {
    ArchiveTotals archive;
    Result<void> read = changes.read_all(archive);
    if (read && archive.samples().empty())
      read = Error{source.path() + ": has no samples of the time that is asked for"};
    if (read) read = source.read_to_end();  // also learns whether the archive is complete
    if (read) totals.add(source, archive);
    return read;
  });
}

std::vector<WantedSeries> wanted_series(const RunTotals& totals) {
  std::vector<WantedSeries> wanted;
  const std::size_t count = std::min(totals.order().size(), kFineSeries + kCoarseSeries);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t tag = totals.order()[i];
    wanted.push_back({tag, i, i >= kFineSeries, totals.archives_with(tag) == 1});
  }
  return wanted;
}

}  // namespace

Result<Totals> read_totals(const ReadRequest& request) {
  TagNames names;
  RunTotals totals(names);
  if (const Result<void> read = read_totals_of(request, names, totals); !read) return read.error();
  Totals all = totals.finish();
  all.run.time_zone = request.time_zone;
  return all;
}

Result<Model> read_model(const ReadRequest& request) {
  TagNames names;
  RunTotals totals(names);
  if (const Result<void> read = read_totals_of(request, names, totals); !read) return read.error();
  Model model;
  Totals all = totals.finish();
  model.run = std::move(all.run);
  model.tags = std::move(all.tags);
  model.run.time_zone = request.time_zone;
  model.fine = make_grid(totals.samples(), kFinePoints);
  model.coarse = make_grid(totals.samples(), kCoarsePoints);

  TagSeries series(model.fine, model.coarse, wanted_series(totals));
  const Result<void> read = for_each_archive(
      request, names,
      [&](ArchiveSource&, ArchiveChanges& changes) { return changes.read_all(series); });
  if (!read) return read.error();
  model.series = series.finish();
  if (const Result<void> added = add_spans(request, model); !added) return added.error();
  return model;
}

}  // namespace pcp::trace::command
