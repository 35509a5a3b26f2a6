// SPDX-License-Identifier: LGPL-2.1-or-later
// A directory for a socket, closed to other users. If it is root's, others may pass, but neither
// list nor change it. The destructor removes it; a directory left by a killed process is removed by
// the same user's next one.
//
// Thread: one.
#pragma once

#include <string>
#include <utility>

#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace pcp::trace::command {

class PrivateDirectory {
 public:
  static Result<PrivateDirectory> create(const std::string& parent = usual_parent());
  PrivateDirectory(PrivateDirectory&& other) noexcept
      : path_(std::exchange(other.path_, "")), lock_(std::move(other.lock_)) {}
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;
  ~PrivateDirectory();

  std::string socket() const { return path_ + "/socket"; }

 private:
  PrivateDirectory(std::string path, Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  // XDG_RUNTIME_DIR, or /run for root: other users cannot recreate the removed directory there.
  // Otherwise /tmp, not TMPDIR, because a socket's path has at most 107 bytes.
  static std::string usual_parent();

  std::string path_;
  Descriptor lock_;  // the directory; its lock marks it as used
};

}  // namespace pcp::trace::command
