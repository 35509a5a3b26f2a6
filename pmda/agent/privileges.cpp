// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/privileges.hpp"

#include <charconv>
#include <cstring>
#include <fstream>
#include <string>

namespace pcp::trace::agent {

namespace {

template <typename Number>
Number parse(const char* text, Number otherwise) {
  Number number{};
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  return error == std::errc{} && rest == end ? number : otherwise;
}

// True if a process is known to ask for itself only. The program's name in comm decides. A process
// that renames itself to pmproxy only loses rights. Other sources are no good: the kernel hides the
// path of root's programs from PCP's user, and reading the command line may wait for a disk.
bool asks_for_itself(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  return std::getline(file, name) && name.find("pmproxy") == name.npos;
}

}  // namespace

void Privileges::note_user(int context, const char* uid) {
  monitors_[context].user = parse(uid, kNobody);
}

void Privileges::note_process(int context, const char* pid) {
  monitors_[context].process = parse(pid, pid_t{0});
}

bool Privileges::may_store(int context) const {
  const auto found = monitors_.find(context);
  return found != monitors_.end() && users_.contains(found->second.user) &&
         asks_for_itself(found->second.process);
}

std::optional<Audience> Privileges::may_see_spans_of(int context) const {
  const auto found = monitors_.find(context);
  const bool is_known = found != monitors_.end() && found->second.user != kNobody &&
                        asks_for_itself(found->second.process);
  if (!is_known) return remotes_see_spans_ ? std::optional(Audience{}) : std::nullopt;
  return users_.contains(found->second.user) ? Audience{} : Audience{found->second.user};
}

bool Privileges::is_of_this_host(int context) const {
  const auto found = monitors_.find(context);
  return found != monitors_.end() && found->second.process != 0;
}

}  // namespace pcp::trace::agent
