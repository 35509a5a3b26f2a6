// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/archive_reader.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "command/run/folded_calls.hpp"
#include "command/run/groups.hpp"
#include "command/run/host_values.hpp"
#include "command/run/imbalance.hpp"
#include "command/run/run_totals.hpp"
#include "command/run/tag_series.hpp"
#include "command/run/time_grid.hpp"
#include "wire/dimensions.hpp"

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
    source->show_labels(request.choice.keys());
    ArchiveChanges changes(*source, names, request.window);
    if (Result<void> read = function(*source, changes); !read) return read;
  }
  return {};
}

// `of_hosts`: gets the archives with metrics of hosts.
Result<void> read_totals_of(const ReadRequest& request, TagNames& names, RunTotals& totals,
                            std::vector<std::string>& of_hosts) {
  return for_each_archive(request, names, [&](ArchiveSource& source, ArchiveChanges& changes) {
    ArchiveTotals archive(source.is_of_agent());
    Result<void> read = changes.read_all(archive);
    if (read && archive.samples().empty())
      read = Error{source.path() + ": has no samples of calls in the requested time"};
    if (read) read = source.read_to_end();  // also learns whether the archive is complete
    if (read) read = totals.add(source, archive, changes);
    totals.note_room(changes.room());
    if (source.has_metrics_of_host()) of_hosts.push_back(source.path());
    return read;
  });
}

// The series of a group are those of its members.
std::vector<WantedSeries> wanted_series(const RunTotals& totals, const Members& groups,
                                        const TagNames& names, const std::vector<Tag>& tags) {
  std::vector<WantedSeries> wanted;
  const std::size_t count = std::min(groups.size(), kFineSeries + kCoarseSeries);
  for (std::size_t i = 0; i < count; ++i) {
    WantedSeries& series = wanted.emplace_back();
    series.in_model = i;
    series.is_coarse = i >= kFineSeries;
    series.times_of = tags[i].times_of;
    for (const std::size_t member : groups[i])
      for (const std::size_t number : totals.order()[member])
        (names.ending(number) == Ending::Failed ? series.failed : series.tags).push_back(number);
    series.is_of_one_archive = groups[i].size() == 1 &&
                               totals.archives_with(totals.order()[groups[i].front()].front()) == 1;
    // An agent gives percentiles of completed calls only.
    series.has_percentiles = series.is_of_one_archive && series.times_of != Ending::Failed;
  }
  return wanted;
}

Result<void> read_series(const ReadRequest& request, const RunTotals& totals, const Members& groups,
                         TagNames& names, Model& model) {
  model.fine = make_grid(totals.samples(), kFinePoints);
  model.coarse = make_grid(totals.samples(), kCoarsePoints);
  TagSeries series(model.fine, model.coarse, wanted_series(totals, groups, names, model.tags));
  Result<void> done =
      for_each_archive(request, names, [&](ArchiveSource& source, ArchiveChanges& changes) {
        Result<void> read = changes.read_all(series);
        series.finish_archive(source.has(TraceType::Transact, Quantity::InFlight));
        return read;
      });
  if (done) model.series = series.finish();
  return done;
}

// Leaves tags out and adds tags up. Gives the new tags' members.
Members choose_tags(Totals& totals, const TagNames& names, const LabelChoice& choice) {
  const auto choose = [&](const LabelChoice& by) {
    Groups groups =
        group_tags(totals.tags, [&](const std::string& tag) { return by.group_of(tag); });
    totals.tags = std::move(groups.tags);
    return std::move(groups.members);
  };
  const bool has_all_labels = totals.run.without_room == 0;
  take_folded(totals, names, choice);
  LabelChoice without_groups = choice;
  without_groups.by.reset();
  Members members = choose(without_groups);
  if (has_all_labels) totals.imbalances = imbalances_of(totals.tags);
  if (choice.by) {
    Members groups = choose(choice);
    for (auto& group : groups)
      for (std::size_t& member : group) member = members[member].front();
    members = std::move(groups);
  }
  note_folded(totals);
  return members;
}

// A label that no tag has is probably misspelt, or belongs to the programs.
Result<void> check_labels(const std::vector<Tag>& tags, const LabelChoice& choice) {
  std::set<std::string> known{"host"};
  for (const Tag& tag : tags)
    for (const Dimension& label : parse_dimensions(tag.name).value_or(Dimensions{}).labels)
      known.emplace(label.key);
  for (const std::string& key : choice.keys()) {
    if (tags.empty() || known.contains(key)) continue;
    std::string text = "no tag has the label \"" + key + "\". Known labels:";
    for (const std::string& each : known) text.append(" ").append(each);
    return Error{text.append("; for labels of programs: pcp-trace record --split=").append(key)};
  }
  return {};
}

Result<Model> read(const ReadRequest& request, bool with_series, bool with_spans) {
  TagNames names;
  RunTotals totals(names, request.are_runs, request.times_of);
  std::vector<std::string> of_hosts;
  if (const Result<void> read = read_totals_of(request, names, totals, of_hosts); !read)
    return read.error();
  Model model;
  static_cast<Totals&>(model) = totals.finish();
  model.run.time_zone = request.time_zone;
  // Older runs and single archives, without spans here, may lack a label that the run has.
  if (with_spans)
    if (const Result<void> known = check_labels(model.tags, request.choice); !known)
      return known.error();
  const Members groups = choose_tags(model, names, request.choice);
  if (with_series)
    if (const Result<void> read = read_series(request, totals, groups, names, model); !read)
      return read.error();
  if (!with_spans) return model;
  Result<std::vector<HostValue>> host_values =
      read_host_values(of_hosts, request.window, with_series ? &model.fine : nullptr);
  if (!host_values) return host_values.error();
  model.host_values = *std::move(host_values);
  Exemplars exemplars(model.run.begin, model.run.end);
  Result<std::optional<RecordedSpans>> spans =
      read_spans(request, with_series ? &exemplars : nullptr);
  if (!spans) return spans.error();
  model.spans = *std::move(spans);
  if (!model.spans) return model;
  model.spans->exemplars = exemplars.take(model.spans->slowest);
  raise_to_spans(model, *model.spans, request.choice);
  group_span_tags(*model.spans, request.choice);
  return model;
}

}  // namespace

Result<Totals> read_totals(const ReadRequest& request) {
  Result<Model> model = read(request, false, false);
  if (!model) return model.error();
  return Totals(*std::move(model));
}

Result<Model> read_course(const ReadRequest& request) { return read(request, true, false); }

Result<Model> read_model(const ReadRequest& request, bool with_series) {
  return read(request, with_series, true);
}

}  // namespace pcp::trace::command
