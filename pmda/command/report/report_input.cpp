// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/report/report_input.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "command/archive/recording_folder.hpp"
#include "command/model/archive_source.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndex = ".index";

const char* to_c(const std::optional<std::string>& text) { return text ? text->c_str() : nullptr; }

// PCP's library marks the mistake in a second line.
std::string in_one_line(std::string_view problem) {
  const std::size_t end = std::min(problem.find('\n'), problem.size());
  std::string_view why = problem.substr(end);
  why.remove_prefix(std::min(why.find_first_not_of("\n ^-"), why.size()));
  why = why.substr(0, why.find_last_not_of('\n') + 1);
  return std::string(problem.substr(0, end)) + (why.empty() ? "" : ": ") + std::string(why);
}

// Resolves the options for archives from `begin` to `end`.
Result<Window> parse_window(const ReportOptions& options, Moment begin, Moment end) {
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
  if (options.has_archives_zone) return first.use_its_time_zone();
  if (options.time_zone.empty()) return {};
  // For the C library each name that it does not know is UTC.
  if (!is_zone(options.time_zone)) return Error{"-Z: " + options.time_zone + ": no such time zone"};
  if (const int error = pmNewZone(options.time_zone.c_str()); error < 0)
    return Error{"-Z: " + options.time_zone + ": " + pmErrStr(error)};
  return {};
}

}  // namespace

Result<std::string> find_archive(const std::string& name) {
  std::error_code ignored;
  if (!fs::is_directory(name, ignored)) {
    for (const std::string_view suffix :
         {kIndex, std::string_view(".meta"), std::string_view(".0")})
      if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
    return name;
  }
  std::string archive = RecordingFolder::archive_in(name);
  if (fs::exists(archive + std::string(kIndex), ignored)) return archive;
  return Error{name +
               ": has no recording, that is to say no file trace.index. If a pmlogger has made it, "
               "name one of its archives, such as " +
               name + "/20261126"};
}

std::vector<std::string> recordings_in(const std::string& directory) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const fs::path folder = directory == "." ? entry.path().filename() : entry.path();
    const auto at =
        fs::last_write_time(RecordingFolder::archive_in(folder) + std::string(kIndex), error);
    if (!error) found.emplace_back(at, folder);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> folders;
  folders.reserve(found.size());
  for (auto& [at, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

Result<std::string> newest_recording(const std::string& directory) {
  const std::vector<std::string> folders = recordings_in(directory);
  if (!folders.empty()) return RecordingFolder::archive_in(folders.front());
  return Error{"there is no recording here. Make one with: pcp-trace record ./your-program"};
}

bool is_among(const std::vector<std::string>& archives, const std::string& archive) {
  std::error_code ignored;
  return std::any_of(archives.begin(), archives.end(), [&](const std::string& other) {
    return other == archive || fs::equivalent(other + ".meta", archive + ".meta", ignored);
  });
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
  Moment begin = Moment::max();
  Moment end = Moment::min();
  for (const std::string& archive : request.archives) {
    const Result<ArchiveSource> source = ArchiveSource::open(archive);
    if (!source) return source.error();
    if (begin == Moment::max()) {
      if (const Result<void> used = use_zone(options, *source); !used) return used.error();
      if (options.has_archives_zone) request.time_zone = source->time_zone();
    }
    begin = std::min(begin, source->begin());
    end = std::max(end, source->end());
  }
  Result<Window> window = parse_window(options, begin, end);
  if (!window) return window.error();
  request.window = *window;
  return request;
}

}  // namespace pcp::trace::command
