// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/private_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>

namespace pcp::trace::command {

namespace {

constexpr std::string_view kPrefix = "pcp-trace-";
constexpr std::string_view kTemplate = "XXXXXX";
constexpr std::string_view kSocket = "socket";
constexpr std::size_t kRandomDigits = 16;

// A program started by root may have become another user, who must reach the socket.
constexpr mode_t kRootsMode = S_IRWXU | S_IXGRP | S_IXOTH;

// Does not follow a symbolic link.
Descriptor open_directory(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool try_lock(const Descriptor& directory) {
  return ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0;
}

bool is_at(const Descriptor& directory, const std::string& path) {
  struct stat its {};
  struct stat there {};
  return ::fstat(directory.get(), &its) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         its.st_dev == there.st_dev && its.st_ino == there.st_ino;
}

// True if it is this user's, and closed to others; root's may allow passing.
bool is_ours(const Descriptor& directory) {
  struct stat its {};
  return ::fstat(directory.get(), &its) == 0 && its.st_uid == ::geteuid() &&
         (its.st_mode & 07777 & ~kRootsMode) == 0;
}

// True if only root can create files in it, and everybody may pass.
bool is_roots(const char* path) {
  struct stat its {};
  return ::stat(path, &its) == 0 && its.st_uid == 0 &&
         (its.st_mode & (S_IWGRP | S_IWOTH | S_IXOTH)) == S_IXOTH && ::access(path, W_OK) == 0;
}

void remove_abandoned(const std::string& parent) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + kTemplate.size()) continue;
    const Descriptor directory = open_directory(entry.path());
    if (!directory || !is_ours(directory) || !try_lock(directory)) continue;
    for (const auto& left : std::filesystem::directory_iterator(entry.path(), error)) {
      const std::string its_name = left.path().filename();
      if (its_name.starts_with(kSocket)) ::unlinkat(directory.get(), its_name.c_str(), 0);
    }
    ::rmdir(entry.path().c_str());  // fails if anything else is in it
  }
}

}  // namespace

std::string PrivateDirectory::usual_parent() {
  if (::geteuid() == 0) return is_roots("/run") ? "/run" : "/tmp";
  constexpr std::size_t kMostBytes =
      sizeof(sockaddr_un::sun_path) -
      (1 + kPrefix.size() + kTemplate.size() + 1 + kSocket.size() + 1 + kRandomDigits + 1);
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime == nullptr || runtime[0] != '/' || ::strnlen(runtime, kMostBytes + 1) > kMostBytes)
    return "/tmp";
  const Descriptor directory = open_directory(runtime);
  return directory && is_ours(directory) ? runtime : "/tmp";
}

Result<PrivateDirectory> PrivateDirectory::create(const std::string& parent) {
  remove_abandoned(parent);
  for (;;) {
    std::string path = parent + "/" + std::string(kPrefix) + std::string(kTemplate);
    if (::mkdtemp(path.data()) == nullptr)
      return Error{"cannot make a directory in " + parent + ": " + std::strerror(errno)};
    Descriptor directory = open_directory(path);
    // Until it is locked, another process may take it for abandoned and remove it.
    const bool is_locked = directory && (try_lock(directory) || errno != EWOULDBLOCK);
    if (is_locked && is_at(directory, path))
      return PrivateDirectory(std::move(path), std::move(directory));
    const int error = directory || errno == ENOENT ? 0 : errno;
    ::rmdir(path.c_str());
    if (error != 0) return Error{path + ": cannot be opened: " + std::strerror(error)};
  }
}

PrivateDirectory::PrivateDirectory(std::string path, Descriptor lock)
    : path_(std::move(path)), lock_(std::move(lock)) {
  std::random_device device;
  std::array<char, kRandomDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x%08x", device(), device());
  socket_ = std::string(kSocket) + '-' + digits.data();
}

Result<void> PrivateDirectory::hide_socket() const {
  if (::rename(bound().c_str(), socket().c_str()) != 0)
    return Error{bound() + ": cannot be renamed: " + std::strerror(errno)};
  if (::geteuid() == 0) ::fchmod(lock_.get(), kRootsMode);
  return {};
}

PrivateDirectory::~PrivateDirectory() {
  if (path_.empty()) return;
  ::unlink(bound().c_str());
  ::unlink(socket().c_str());
  ::rmdir(path_.c_str());
}

}  // namespace pcp::trace::command
