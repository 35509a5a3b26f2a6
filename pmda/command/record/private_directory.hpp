// SPDX-License-Identifier: LGPL-2.1-or-later
// A directory for a socket, closed to other users. The kernel shows to everybody at which path a
// socket was bound: so it is then renamed, and only programs that were told its name can connect.
// If the directory is root's, others may pass from then on, but neither list nor change it. The
// destructor removes directory and socket; a directory left by a killed process is removed by the
// same user's next one.
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
      : path_(std::exchange(other.path_, "")),
        socket_(std::move(other.socket_)),
        lock_(std::move(other.lock_)) {}
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;
  ~PrivateDirectory();

  // Where to bind the socket; and its path since it was hidden.
  std::string bound() const { return path_ + "/socket"; }
  std::string socket() const { return path_ + '/' + socket_; }
  Result<void> hide_socket() const;

 private:
  PrivateDirectory(std::string path, Descriptor lock);

  // XDG_RUNTIME_DIR, or /run for root: other users cannot recreate the removed directory there.
  // Otherwise /tmp, not TMPDIR, because a socket's path has at most 107 bytes.
  static std::string usual_parent();

  std::string path_;
  std::string socket_;  // a name that nobody can guess
  Descriptor lock_;     // the directory; its lock marks it as used
};

}  // namespace pcp::trace::command
