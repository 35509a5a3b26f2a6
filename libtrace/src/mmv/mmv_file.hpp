// SPDX-License-Identifier: LGPL-2.1-or-later
// A process's own file in the format of mmv(5): a process killed with the lock of a common file
// would stop the others. Readers see only complete files: a new one is made under a name that PCP's
// pmdammv ignores, and then renamed over the old one. (pmdammv of PCP 6 can end pmcd if it finds a
// file incomplete, or removed and made again.) Nothing moves or shrinks in a file
// that has its name; only values change. pmdammv maps the file, and the kernel copies a value's
// eight aligned bytes at once.
//
// This process does not map the file: anybody who may write it may truncate it, and a mapped access
// would then end the process.
//
// Thread: the flusher's. A forked child closes its copy of the descriptor.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mmv/mmv_image.hpp"
#include "mmv/mmv_totals.hpp"
#include "platform/own_descriptor.hpp"

namespace pcp::trace::client {

class MmvFile {
 public:
  // `metrics` is the first word of the metrics' names after "mmv.", the same for all processes that
  // are to be seen together.
  MmvFile(std::string directory, std::string metrics, std::string service,
          std::array<OwnDescriptor, 2>& files);
  MmvFile(const MmvFile&) = delete;
  MmvFile& operator=(const MmvFile&) = delete;

  // Puts a file with these instances in place. Gives 0 or an error number: then the old one stays.
  int replace(const std::vector<MmvInstance>& instances);

  // The number of instances that the file has, from the first on.
  std::size_t size() const { return image_.size(); }

  // Writes the changed values of the instances that the file has. False if an instance has other
  // metrics than in the file, or the file cannot be written: then call replace().
  bool write(std::vector<MmvInstance>& instances);

  // Changes the directory's time. pmdammv compares whole seconds, so the second change in a second
  // may go unnoticed.
  void touch_directory() const;

  // False if somebody has removed or truncated the file, or put another one in its place.
  bool is_in_place() const;

  void remove();

  // Removes our files of processes that have ended, of all users that this process may remove.
  void remove_dead() const;

  const std::string& directory() const { return directory_; }

 private:
  std::string path(const char* before) const;
  OwnDescriptor& file() { return files_[present_]; }
  bool is_whole();
  bool is_own(const struct stat& file) const;
  void number(const std::vector<MmvInstance>& instances);
  bool is_ours(const std::string& path, pid_t process, bool is_hidden) const;

  static constexpr std::size_t kMostNumbers = 1024;

  const std::string directory_;
  const std::uint64_t namespace_;  // of process ids; see own_namespace()
  const MmvOwner owner_;
  std::vector<std::int32_t> numbers_;  // of each instance
  std::bitset<kMostNumbers> taken_;    // by their last bits
  std::array<OwnDescriptor, 2>& files_;
  std::size_t present_ = 0;  // the one of the file in place; the other one: of the next
  MmvImage image_;           // of the file; empty: there is none
  std::uint64_t inode_ = 0;  // its
  std::uint64_t generation_ = 0;
};

}  // namespace pcp::trace::client
