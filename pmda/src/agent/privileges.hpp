// Who may store: root, PCP's user and the user that the agent runs as. pmcd tells which user a
// monitor is when it is connected through pmcd's Unix socket; about others nothing is known.
#pragma once

#include <sys/types.h>

#include <map>
#include <set>

namespace pcp::trace::agent {

class Privileges {
 public:
  explicit Privileges(std::set<uid_t> users) : users_(std::move(users)) {}

  // Notes pmcd's word on the user of one of its client contexts. Not a number: nobody.
  void note_user(int context, const char* uid);
  void forget(int context) { user_of_.erase(context); }

  bool may_store(int context) const;

 private:
  std::set<uid_t> users_;
  std::map<int, uid_t> user_of_;
};

}  // namespace pcp::trace::agent
