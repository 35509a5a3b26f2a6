// SPDX-License-Identifier: LGPL-2.1-or-later
// Storing is allowed for root, PCP's user and the agent's user. pmcd tells the user and process of
// a monitor only for connections through pmcd's Unix socket. A pmproxy runs as one of these users,
// but asks for anybody, so it may not store.
//
// These three users see spans of all programs, other users their own. For pmproxy and unknown users
// the agent's option --capture-remote decides.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "collector/spans/capture_table.hpp"

namespace pcp::trace::agent {

// Thread: the main one.
class Privileges {
 public:
  explicit Privileges(std::set<uid_t> users, bool remotes_see_spans = false)
      : users_(std::move(users)), remotes_see_spans_(remotes_see_spans) {}

  // Notes the user and the process that pmcd gives for a client context. Not a number: unknown.
  void note_user(int context, const char* uid);
  void note_process(int context, const char* pid);
  void forget(int context) { monitors_.erase(context); }

  // Requires: the process still exists, as it does while it waits for this store.
  bool may_store(int context) const;

  // The users whose spans a monitor may see; nothing: none. Requires: as may_store().
  std::optional<Audience> may_see_spans_of(int context) const;

  // True if the monitor came through pmcd's Unix socket.
  bool is_of_this_host(int context) const;

 private:
  static constexpr uid_t kNobody = ~uid_t{0};

  struct Monitor {
    uid_t user = kNobody;
    pid_t process = 0;  // 0: not on this machine, or in a container that we cannot see
  };

  std::set<uid_t> users_;
  bool remotes_see_spans_;
  std::map<int, Monitor> monitors_;  // by context
};

}  // namespace pcp::trace::agent
