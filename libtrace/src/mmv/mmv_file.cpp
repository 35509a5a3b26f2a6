// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mmv/mmv_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "mmv/mmv_metrics.hpp"
#include "platform/texts.hpp"
#include "wire/dimensions.hpp"
#include "wire/first_word.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kMachinesNamespace = 0;
constexpr std::uint64_t kUnknownNamespace = ~std::uint64_t{0};

// The number of this process's namespace of process ids.
std::uint64_t own_namespace() {
  constexpr std::uint64_t kMachines = 0xEFFF'FFFC;
  struct stat its {};
  if (::stat("/proc/self/ns/pid", &its) != 0) return kUnknownNamespace;
  return its.st_ino == kMachines ? kMachinesNamespace : its.st_ino;
}

// Gives 0 or an error number.
int write_at(const OwnDescriptor& file, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    if (!file.is_ours()) return EBADF;
    const ssize_t written =
        ::pwrite(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return 0;
}

// Makes a file with these bytes; or gives an error number, and there is no file.
int make(const std::string& path, std::string_view bytes, OwnDescriptor& file,
         std::uint64_t& inode) {
  ::unlink(path.c_str());  // left by a killed process with this id
  if (!file.take(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)))
    return errno;
  ::fchmod(file.number(), 0644);  // PCP's user reads it, whatever this process's umask is
  int error = write_at(file, bytes, 0);
  struct stat its {};
  if (error == 0 && ::fstat(file.number(), &its) != 0) error = errno;
  inode = its.st_ino;
  if (error == 0) return 0;
  file.close();
  ::unlink(path.c_str());
  return error;
}

}  // namespace

MmvFile::MmvFile(std::string directory, std::string metrics, std::string service,
                 std::array<OwnDescriptor, 2>& files)
    : directory_(std::move(directory)),
      namespace_(own_namespace()),
      owner_{std::move(metrics), std::move(service), ::getpid(),
             namespace_ == kMachinesNamespace ? "" : '@' + std::to_string(namespace_)},
      files_(files) {}

std::string MmvFile::path(const char* before) const {
  return directory_ + '/' + before + owner_.metrics + '_' + std::to_string(owner_.process) +
         owner_.at_namespace;
}

// A number has ten bits for an instance of the file, from its name, so that a tag keeps its number
// after exec; and 21 for the process, since pmdammv puts the instances of all files together.
void MmvFile::number(const std::vector<MmvInstance>& instances) {
  static_assert(MmvTotals::kMostInstances + kTraceTypes.size() <= kMostNumbers);
  constexpr unsigned kPidBits = 21;
  const auto process =
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(owner_.process) + namespace_) &
      ((1u << kPidBits) - 1);
  while (numbers_.size() < instances.size()) {
    const MmvInstance& its = instances[numbers_.size()];
    std::size_t own =
        hash_of_name(its.tag != nullptr ? name_of(*its.tag) : kOverflowName) + index_of(its.type);
    while (taken_[own % kMostNumbers]) ++own;
    taken_[own % kMostNumbers] = true;
    numbers_.push_back(static_cast<std::int32_t>(process * kMostNumbers + own % kMostNumbers));
  }
}

// False for a file of another library. A hidden file may have been left before it had a header.
bool MmvFile::is_ours(const std::string& path, pid_t process, bool is_hidden) const {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  MmvHeader header{{}, 0};
  const ssize_t size = ::read(fd, &header, sizeof header);
  ::close(fd);
  if (is_hidden && (size == 0 || (size == sizeof header && header.version == 0))) return true;
  return size == sizeof header && header.magic == MmvHeader().magic &&
         header.version == MmvHeader().version && header.process == process &&
         header.cluster == owner_.cluster();
}

bool MmvFile::is_in_place() const {
  struct stat its {};
  return ::lstat(path("").c_str(), &its) == 0 && is_own(its);
}

bool MmvFile::is_whole() {
  struct stat its {};
  return file().is_ours() && ::fstat(file().number(), &its) == 0 && is_own(its);
}

bool MmvFile::is_own(const struct stat& file) const {
  return file.st_ino == inode_ && file.st_size == static_cast<off_t>(image_.bytes().size());
}

int MmvFile::replace(const std::vector<MmvInstance>& instances) {
  if (namespace_ == kUnknownNamespace) return ESRCH;
  struct stat its {};
  if (::lstat(path("").c_str(), &its) == 0 && its.st_ino != inode_ &&
      !is_ours(path(""), owner_.process, false))
    return EEXIST;
  number(instances);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  generation_ = std::max(generation_ + 1, static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                                              static_cast<std::uint64_t>(now.tv_nsec));
  MmvImage next(owner_, instances, numbers_, generation_);
  const std::string hidden = path(".");
  OwnDescriptor& its_file = files_[1 - present_];
  std::uint64_t inode = 0;
  if (const int error = make(hidden, next.bytes(), its_file, inode); error != 0) return error;
  if (::rename(hidden.c_str(), path("").c_str()) != 0) {
    const int error = errno;
    ::unlink(hidden.c_str());
    its_file.close();
    return error;
  }
  // Tells a pmdammv that has the old file mapped that there is a new one.
  if (is_whole()) write_at(file(), std::string_view(next.bytes()).substr(0, sizeof(MmvHeader)), 0);
  file().close();
  present_ = 1 - present_;
  image_ = std::move(next);
  inode_ = inode;
  return 0;
}

bool MmvFile::write(std::vector<MmvInstance>& instances) {
  if (size() > 0 && !is_whole()) {
    file().close();
    return false;
  }
  bool is_good = true;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!std::exchange(instances[i].is_changed, false)) continue;
    is_good &= image_.set_values(i, instances[i]);
    is_good &= write_at(file(), image_.values_of(i), image_.offset_of(i)) == 0;
  }
  return is_good;
}

void MmvFile::touch_directory() const {
  const std::string hidden = path(".");
  const int fd = ::open(hidden.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return;
  ::close(fd);
  ::unlink(hidden.c_str());
}

void MmvFile::remove() {
  if (!image_.is_empty() && is_in_place()) ::unlink(path("").c_str());
  file().close();
  image_ = MmvImage();
}

void MmvFile::remove_dead() const {
  if (namespace_ == kUnknownNamespace) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> files(::opendir(directory_.c_str()), ::closedir);
  if (!files) return;
  while (const dirent* const file = ::readdir(files.get())) {
    std::string_view name = file->d_name;
    if (name.starts_with('.')) name.remove_prefix(1);
    if (!name.starts_with(owner_.metrics + '_')) continue;
    name.remove_prefix(owner_.metrics.size() + 1);
    pid_t process = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
    const bool is_process = error == std::errc() && process > 0 &&
                            name == std::to_string(process) + owner_.at_namespace;
    const std::string path = directory_ + '/' + file->d_name;
    if (is_process && ::kill(process, 0) != 0 && errno == ESRCH &&
        is_ours(path, process, file->d_name[0] == '.'))
      ::unlink(path.c_str());
  }
}

}  // namespace pcp::trace::client
