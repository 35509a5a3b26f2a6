// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/replace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/descriptor.hpp"

namespace pcp::trace::command {
namespace {

Error last_error() { return Error{std::strerror(errno)}; }

Result<void> write_file(const std::string& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return last_error();
  if (const int error = write_all(file.get(), bytes); error != 0)
    return Error{std::strerror(error)};
  if (!file.close()) return last_error();
  return {};
}

// The file and its temporary; no temporary if `given` exists and is no regular file.
struct Paths {
  std::string path;
  std::string temporary;
};
Paths paths_of(const std::string& given) {
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(given, ignored);
  if (is_there && !std::filesystem::is_regular_file(given, ignored)) return {given, ""};
  std::string path = is_there ? std::filesystem::canonical(given, ignored).string() : given;
  std::string temporary = path + '.' + std::to_string(::getpid()) + ".new";
  return {std::move(path), std::move(temporary)};
}

}  // namespace

Result<void> replace_file(const std::string& given, std::string_view bytes) {
  const auto [path, temporary] = paths_of(given);
  if (temporary.empty()) return write_file(path, bytes);
  Result<void> saved = write_file(temporary, bytes);
  if (saved && std::rename(temporary.c_str(), path.c_str()) != 0) saved = last_error();
  if (!saved) ::unlink(temporary.c_str());
  return saved;
}

Result<void> try_to_replace_file(const std::string& given) {
  const auto [path, temporary] = paths_of(given);
  if (temporary.empty()) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (!file && errno != ENXIO) return last_error();  // ENXIO: a pipe without a reader yet
    return {};
  }
  Result<void> written = write_file(temporary, "");
  ::unlink(temporary.c_str());
  return written;
}

}  // namespace pcp::trace::command
