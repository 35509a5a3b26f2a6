// SPDX-License-Identifier: LGPL-2.1-or-later
// Who may store: root, PCP's user and the user that the agent runs as. pmcd tells which user and
// which process a monitor is when it is connected through pmcd's Unix socket; about others nothing
// is known. A pmproxy is such a user, too, but asks for anybody who asks it, so it may not store.
//
// Who may see spans: those three of all programs, other users of their own. Of whom nothing is
// known, and of pmproxy, that is as the agent's option --capture-remote says.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "collector/spans/captures.hpp"

namespace pcp::trace::agent {

// Thread: the main one.
class Privileges {
 public:
  explicit Privileges(std::set<uid_t> users, bool remotes_see_spans = false)
      : users_(std::move(users)), remotes_see_spans_(remotes_see_spans) {}

  // Note pmcd's word on the user and the process of one of its client contexts. Not a number:
  // unknown.
  void note_user(int context, const char* uid);
  void note_process(int context, const char* pid);
  void forget(int context) { monitors_.erase(context); }

  // Requires a process that is there, as one that waits for this store is.
  bool may_store(int context) const;

  // Whose programs' spans a monitor may see; nothing: nobody's. Requires the same.
  std::optional<Audience> may_see_spans_of(int context) const;

  // It has come through pmcd's Unix socket.
  bool is_of_this_host(int context) const;

 private:
  static constexpr uid_t kNobody = ~uid_t{0};

  struct Monitor {
    uid_t user = kNobody;
    pid_t process = 0;  // 0: none of this machine, or in a container of which we know nothing
  };

  std::set<uid_t> users_;
  bool remotes_see_spans_;
  std::map<int, Monitor> monitors_;  // by context
};

}  // namespace pcp::trace::agent
