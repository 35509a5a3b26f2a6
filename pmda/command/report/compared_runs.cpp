// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/report/compared_runs.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "command/pcp/archive_source.hpp"
#include "command/pcp/recording_folder.hpp"
#include "command/report/report_input.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

namespace {

Result<ReadRequest> request_base(const ReportOptions& options, const ReadRequest& now) {
  ReadRequest request;
  request.time_zone = options.time_zone;
  request.choice = options.choice;
  request.are_runs = options.are_runs;
  WallTime begin = WallTime::max();
  WallTime end = WallTime::min();
  for (const std::string& name : options.base) {
    Result<std::string> archive = find_archive(name);
    if (!archive) return archive.error();
    if (is_among(now.archives, *archive))
      return Error{name + ": is the run itself; name the one to compare with it"};
    const Result<ArchiveSource> source = ArchiveSource::open(*archive);
    if (!source) return source.error();
    begin = std::min(begin, source->begin());
    end = std::max(end, source->end());
    if (!is_among(request.archives, *archive)) request.archives.push_back(*std::move(archive));
  }
  const Result<Window> window = parse_window(options, begin, end);
  if (!window) return window.error();
  request.window = *window;
  return request;
}

ReadRequest only(const std::string& archive, ReadRequest request) {
  request.archives = {archive};
  return request;
}

// Only what a comparison of runs needs: distributions of all tags of many runs would be large.
Result<void> read_runs(const ReadRequest& request, const std::set<TagKey>& wanted, Side& side) {
  for (const std::string& archive : request.archives) {
    Result<Totals> run = read_totals(only(archive, request));
    if (!run) return run.error();
    std::erase_if(run->tags, [&](const Tag& tag) {
      return !wanted.contains({tag.type, tag.name});
    });
    side.runs.push_back(*std::move(run));
  }
  return {};
}

// `all`: the archives of the request together.
Result<void> read_pieces(const ReadRequest& request, const Model& all, Side& side) {
  if (request.archives.size() == 1) {
    side.pieces.add(all);
  } else {
    for (const std::string& archive : request.archives) {
      const Result<Model> course = read_course(only(archive, request));
      if (!course) return course.error();
      side.pieces.add(*course);
    }
  }
  side.pieces.finish();
  return {};
}

}  // namespace

Result<std::optional<Comparison>> compare_runs(const ReportOptions& options, const ReadRequest& now,
                                               Model& model) {
  if (options.base.empty()) return std::optional<Comparison>();
  const Result<ReadRequest> base = request_base(options, now);
  if (!base) return base.error();
  Result<Model> older_model = read_course(*base);
  if (!older_model) return older_model.error();
  model.base = static_cast<const Totals&>(*older_model);
  Side older{*model.base, {}, {}};
  Side newer{model, {}, {}};
  const bool are_enough =
      options.are_runs && std::min(base->archives.size(), now.archives.size()) >= kFewestRuns;
  Divisors divisors;
  if (options.are_runs)
    divisors = {static_cast<double>(base->archives.size()),
                static_cast<double>(now.archives.size())};
  std::set<TagKey> wanted = tags_to_judge(older.totals, newer.totals);
  if (options.per) {
    const Result<Divisors> calls = calls_of(*options.per, older.totals, newer.totals);
    if (!calls) return Error{"--per " + printed_name(*options.per) + ": " + calls.error().message};
    divisors = *calls;
    wanted.insert(*divisors.tag);
  }
  const auto read = [&](const ReadRequest& request, const Model& all, Side& side) {
    return are_enough ? read_runs(request, wanted, side) : read_pieces(request, all, side);
  };
  if (const Result<void> done = read(*base, *older_model, older); !done) return done.error();
  if (const Result<void> done = read(now, model, newer); !done) return done.error();
  return std::optional(compare(older, newer, divisors));
}

}  // namespace pcp::trace::command
