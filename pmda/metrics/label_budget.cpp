// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/label_budget.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace pcp::trace::agent {

void LabelBudget::want(const Origin& origin, std::size_t bytes) {
  Share& session = sessions_[&origin];
  session.unit = std::max(session.unit, bytes);
  session.wanted += bytes;
}

void LabelBudget::Group::add(Share& member) {
  share.wanted += member.wanted;
  share.unit = std::max(share.unit, member.unit);
  members.push_back(&member);
}

void LabelBudget::share_out() {
  using User = std::string_view;
  std::map<std::pair<User, std::uint32_t>, Group> processes;
  for (auto& [origin, session] : sessions_) processes[{origin->owner, origin->pid}].add(session);
  std::map<User, Group> users;
  for (auto& [process, group] : processes) users[process.first].add(group.share);
  Group all;
  for (auto& [user, group] : users) all.add(group.share);

  divide(bytes_, all.members);
  for (auto& [user, group] : users) divide(group.share.left, group.members);
  for (auto& [process, group] : processes) divide(group.share.left, group.members);
}

// Small requests first, so that their unused room goes to the others.
void LabelBudget::divide(std::size_t bytes, std::vector<Share*> among) {
  std::sort(among.begin(), among.end(),
            [](const Share* a, const Share* b) { return a->wanted < b->wanted; });
  std::size_t waiting = among.size();
  for (Share* share : among) {
    const std::size_t part = bytes / waiting;
    share->left = share->wanted <= part ? share->wanted : part / share->unit * share->unit;
    bytes -= share->left;
    --waiting;
  }
}

bool LabelBudget::takes(const Origin& origin, std::size_t bytes) {
  Share& session = sessions_[&origin];
  if (session.left < bytes) {
    ++left_out_;
    return false;
  }
  session.left -= bytes;
  taken_ += bytes;
  return true;
}

}  // namespace pcp::trace::agent
