// SPDX-License-Identifier: LGPL-2.1-or-later
// A directory for a socket that nobody else may enter, or root's, which others pass but neither
// list nor change. It goes with this process; what is left when one is killed, the next one of the
// same user removes.
//
// Thread: one.
#pragma once

#include <string>
#include <utility>

#include "collector/engine/descriptor.hpp"
#include "wire/result.hpp"

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
  PrivateDirectory(std::string path, agent::Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  // XDG_RUNTIME_DIR, or /run for root: no other user can make there again what this process removes
  // at its end. Where there is none, /tmp, not TMPDIR: a socket's path has at most 107 bytes.
  static std::string usual_parent();

  std::string path_;
  agent::Descriptor lock_;  // the directory; its lock says that it is in use
};

}  // namespace pcp::trace::command
