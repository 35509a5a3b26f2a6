#include "agent/privileges.hpp"

#include <charconv>
#include <cstring>

namespace pcp::trace::agent {

void Privileges::note_user(int context, const char* uid) {
  uid_t number = 0;
  const char* const end = uid + std::strlen(uid);
  const auto [rest, error] = std::from_chars(uid, end, number);
  if (error == std::errc{} && rest == end) {
    user_of_[context] = number;
  } else {
    forget(context);
  }
}

bool Privileges::may_store(int context) const {
  const auto found = user_of_.find(context);
  return found != user_of_.end() && users_.count(found->second) > 0;
}

}  // namespace pcp::trace::agent
