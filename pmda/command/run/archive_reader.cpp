// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/archive_reader.hpp"

#include <algorithm>
#include <utility>

#include "command/run/run_totals.hpp"
#include "command/run/tag_series.hpp"
#include "command/run/time_grid.hpp"

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

Result<void> read_series(const ReadRequest& request, const RunTotals& totals, TagNames& names,
                         Model& model) {
  model.fine = make_grid(totals.samples(), kFinePoints);
  model.coarse = make_grid(totals.samples(), kCoarsePoints);
  TagSeries series(model.fine, model.coarse, wanted_series(totals));
  Result<void> read =
      for_each_archive(request, names, [&](ArchiveSource& source, ArchiveChanges& changes) {
        Result<void> read = changes.read_all(series);
        series.finish_archive(source.has(TraceType::Transact, Quantity::InFlight));
        return read;
      });
  if (read) model.series = series.finish();
  return read;
}

Result<Model> read(const ReadRequest& request, bool with_series, bool with_spans) {
  TagNames names;
  RunTotals totals(names);
  if (const Result<void> read = read_totals_of(request, names, totals); !read) return read.error();
  Model model;
  static_cast<Totals&>(model) = totals.finish();
  model.run.time_zone = request.time_zone;
  if (with_series)
    if (const Result<void> read = read_series(request, totals, names, model); !read)
      return read.error();
  if (!with_spans) return model;
  Exemplars exemplars(model.run.begin, model.run.end);
  Result<std::optional<RecordedSpans>> spans =
      read_spans(request, with_series ? &exemplars : nullptr);
  if (!spans) return spans.error();
  model.spans = *std::move(spans);
  if (model.spans) model.spans->exemplars = exemplars.take(model.spans->slowest);
  if (model.spans) raise_to_spans(model, *model.spans);
  return model;
}

}  // namespace

Result<Totals> read_totals(const ReadRequest& request) {
  Result<Model> model = read(request, false, false);
  if (!model) return model.error();
  return Totals(*std::move(model));
}

Result<Model> read_model(const ReadRequest& request, bool with_series) {
  return read(request, with_series, true);
}

}  // namespace pcp::trace::command
