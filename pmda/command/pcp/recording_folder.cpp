// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/recording_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>
#include <vector>

namespace pcp::trace::command {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndex = ".index";
constexpr std::string_view kSuffix = ".trace";
constexpr std::array kArchiveFiles{".0", ".index", ".meta"};

Error cannot_make(const std::string& path) {
  return {"cannot make the folder " + path + ": " + std::strerror(errno) +
          "; the option -o gives another"};
}

std::string local_time(Stamp at) {
  const auto seconds = static_cast<std::time_t>(at.seconds);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
  return text.data();
}

}  // namespace

std::string as_file_name(std::string_view text) {
  constexpr std::size_t kMost = 64;
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-_.";
  std::string name(text.substr(0, kMost));
  for (char& letter : name)
    if (kPlain.find(letter) == kPlain.npos) letter = '_';
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "_");
  return name;
}

Result<RecordingFolder> RecordingFolder::open(const std::string& path) {
  const bool is_new = ::mkdir(path.c_str(), 0777) == 0;
  if (!is_new && errno != EEXIST) return cannot_make(path);
  if (!fs::is_directory(path)) {
    errno = ENOTDIR;
    return cannot_make(path);
  }
  RecordingFolder folder(path, is_new);
  for (const char* const suffix : kArchiveFiles)
    if (fs::exists(folder.archive() + suffix))
      return Error{"there is a recording in " + path +
                   " already; the option -o gives another folder"};
  return folder;
}

Result<RecordingFolder> RecordingFolder::create(std::string_view what, std::string_view rank,
                                                Stamp at) {
  const std::string name = as_file_name(what) + (rank.empty() ? "" : "-rank" + as_file_name(rank)) +
                           '-' + local_time(at);
  // Several recordings may begin in the same second.
  for (int number = 1;; ++number) {
    const std::string path =
        name + (number == 1 ? "" : '-' + std::to_string(number)) + std::string(kSuffix);
    if (::mkdir(path.c_str(), 0777) == 0) return RecordingFolder(path, true);
    if (errno != EEXIST) return cannot_make(path);
  }
}

void RecordingFolder::remove() const {
  for (const char* const suffix : kArchiveFiles) ::unlink((archive() + suffix).c_str());
  if (is_new_) ::rmdir(path_.c_str());
}

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
               ": no recording here (trace.index is missing). If a pmlogger has made it, "
               "name one of its archives, such as " +
               name + "/20261126"};
}

bool is_archive(const std::string& name) {
  std::error_code ignored;
  const Result<std::string> archive = find_archive(name);
  return archive && fs::exists(*archive + ".meta", ignored);
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

}  // namespace pcp::trace::command
