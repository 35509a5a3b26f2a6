// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/report/report_input.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/pcp/archive_source.hpp"
#include "command/pcp/recording_folder.hpp"
#include "command/show/shown.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

namespace {

namespace fs = std::filesystem;

const char* to_c(const std::optional<std::string>& text) { return text ? text->c_str() : nullptr; }

// PCP's library marks the mistake in a second line.
std::string in_one_line(std::string_view problem) {
  const std::size_t end = std::min(problem.find('\n'), problem.size());
  std::string_view why = problem.substr(end);
  why.remove_prefix(std::min(why.find_first_not_of("\n ^-"), why.size()));
  why = why.substr(0, why.find_last_not_of('\n') + 1);
  return std::string(problem.substr(0, end)) + (why.empty() ? "" : ": ") + std::string(why);
}

// A file of the system's, or a text as in TZ: UTC-3, <+03>-3.
bool is_zone(const std::string& name) {
  constexpr const char* kFiles = "/usr/share/zoneinfo/";
  constexpr std::size_t kShortest = 3;
  std::error_code ignored;
  if (!fs::exists(kFiles, ignored) || fs::is_regular_file(kFiles + name, ignored)) return true;
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const auto end = static_cast<std::size_t>(std::find_if_not(name.begin(), name.end(), is_letter) -
                                            name.begin());
  const std::size_t at = name.starts_with('<') ? name.find('>') + 1 : end;
  const std::size_t digit = name.find_first_not_of("+-", at);
  return at >= kShortest && digit < name.size() && name[digit] >= '0' && name[digit] <= '9';
}

Result<void> use_zone(const ReportOptions& options, const ArchiveSource& first) {
  const std::string& zone = options.has_archives_zone ? first.time_zone() : options.time_zone;
  if (zone.empty()) return {};
  const std::string option = options.has_archives_zone ? "-z: " : "-Z: ";
  // For the C library each name that it does not know is UTC.
  if (!options.has_archives_zone && !is_zone(zone))
    return Error{option + zone + ": no such time zone"};
  if (const int error = new_zone(zone); error < 0)
    return Error{option + zone + ": " + pmErrStr(error)};
  return {};
}

struct TimedRecording {
  WallTime begin;
  WallTime end;
  std::string path;
};
using RecordingsByHost = std::map<std::string, std::vector<TimedRecording>>;

// Recordings of one host that follow each other are probably runs, and a "--" is missing.
Result<void> check_parts_of_a_run(RecordingsByHost& parts) {
  for (auto& [host, its] : parts) {
    std::ranges::sort(its, {}, &TimedRecording::begin);
    const TimedRecording* before = &its.front();
    for (const TimedRecording& part : its) {
      if (part.begin > before->end)
        return Error{part.path + ": began after the end of " + before->path +
                     ", so they are not parts of one run. Put -- between the older and the newer "
                     "runs: --compare OLDER... -- NEWER..."};
      if (part.end > before->end) before = &part;
    }
  }
  return {};
}

Result<ReadRequest> request_base(const ReportOptions& options, const ReadRequest& now) {
  ReadRequest request;
  request.time_zone = options.time_zone;
  request.choice = options.choice;
  request.times_of = options.times_of;
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

Result<Window> parse_window(const ReportOptions& options, WallTime begin, WallTime end) {
  const timespec first = to_timespec(begin.time_since_epoch());
  const timespec last = to_timespec(end.time_since_epoch());
  timespec start{};
  timespec finish{};
  timespec origin{};
  char* problem = nullptr;
  if (pmapi::parse_time_window(to_c(options.start), to_c(options.finish), to_c(options.align),
                               to_c(options.origin), &first, &last, &start, &finish, &origin,
                               &problem) < 0) {
    Error error{"no such time: " + in_one_line(problem)};
    std::free(problem);
    return error;
  }
  Window window;
  if (options.align || options.origin)
    window.begin = moment_of(origin);
  else if (options.start)
    window.begin = moment_of(start);
  if (options.finish) window.end = moment_of(finish);
  return window;
}

Result<ReadRequest> make_request(const ReportOptions& options) {
  ReadRequest request;
  if (options.archives.empty()) {
    Result<std::string> newest = newest_recording(".");
    if (!newest) return newest.error();
    request.archives.push_back(*std::move(newest));
  }
  for (const std::string& name : options.archives) {
    Result<std::string> archive = find_archive(name);
    if (!archive) return archive.error();
    // A pattern such as 20261126* names each file of an archive.
    if (!is_among(request.archives, *archive)) request.archives.push_back(*std::move(archive));
  }
  request.time_zone = options.time_zone;
  request.choice = options.choice;
  request.times_of = options.times_of;
  request.are_runs = options.are_runs;
  RecordingsByHost recordings;
  WallTime begin = WallTime::max();
  WallTime end = WallTime::min();
  for (const std::string& archive : request.archives) {
    const Result<ArchiveSource> source = ArchiveSource::open(archive);
    if (!source) return source.error();
    if (begin == WallTime::max()) {
      if (const Result<void> used = use_zone(options, *source); !used) return used.error();
      if (options.has_archives_zone) request.time_zone = source->time_zone();
    }
    begin = std::min(begin, source->begin());
    end = std::max(end, source->end());
    if (!source->is_of_agent())
      recordings[source->host()].push_back({source->begin(), source->end(), archive});
  }
  if (!options.base.empty() && !options.are_runs)
    if (const Result<void> checked = check_parts_of_a_run(recordings); !checked)
      return checked.error();
  Result<Window> window = parse_window(options, begin, end);
  if (!window) return window.error();
  request.window = *window;
  return request;
}

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
