// SPDX-License-Identifier: LGPL-2.1-or-later
// The folder of one recording: NAME.trace with the archive `trace` and the page `trace.html`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "command/pcp/archive_records.hpp"

namespace pcp::trace::command {

class RecordingFolder {
 public:
  // Makes this folder. An existing one is used if it has no recording.
  static Result<RecordingFolder> open(const std::string& path);

  // Makes a folder in the current directory, named after the recorded command, its rank in a job if
  // it has one, and the time.
  static Result<RecordingFolder> create(std::string_view what, std::string_view rank, Stamp at);

  const std::string& path() const { return path_; }
  static std::string archive_in(const std::filesystem::path& folder) { return folder / "trace"; }
  std::string archive() const { return archive_in(path_); }
  std::string page() const { return path_ + "/trace.html"; }

  // Removes the recording, and the folder if it is new.
  void remove() const;

 private:
  RecordingFolder(std::string path, bool is_new) : path_(std::move(path)), is_new_(is_new) {}

  std::string path_;
  bool is_new_;
};

// Makes a valid file name from any text.
std::string as_file_name(std::string_view text);

// The archive, named in PCP's form, for an argument (archive or folder).
Result<std::string> find_archive(const std::string& name);

// True if there is such an archive or folder.
bool is_archive(const std::string& name);

// True if `archive` is in the list, by any of its names.
bool is_among(const std::vector<std::string>& archives, const std::string& archive);

// The folders of a directory that have a recording, the newest first.
std::vector<std::string> recordings_in(const std::string& directory);

// The newest recording in a directory.
Result<std::string> newest_recording(const std::string& directory);

}  // namespace pcp::trace::command
