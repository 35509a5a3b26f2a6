// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/archive/recording_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

namespace pcp::trace::command {

namespace {

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
  if (!std::filesystem::is_directory(path)) {
    errno = ENOTDIR;
    return cannot_make(path);
  }
  RecordingFolder folder(path, is_new);
  for (const char* const suffix : kArchiveFiles)
    if (std::filesystem::exists(folder.archive() + suffix))
      return Error{"there is a recording in " + path +
                   " already; the option -o gives another folder"};
  return folder;
}

Result<RecordingFolder> RecordingFolder::create(std::string_view what, Stamp at) {
  const std::string name = as_file_name(what) + '-' + local_time(at);
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

}  // namespace pcp::trace::command
