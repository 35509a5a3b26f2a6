#include "agent/label_budget.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace pcp::trace::agent {

namespace {

// In an answer: the text with a comma, and PCP's index to it.
std::size_t bytes_of(const Origin& origin) {
  return 1 + origin.labels.members().size() +
         origin.labels.places().size() * sizeof(LabelText::Place);
}

}  // namespace

void LabelBudget::want(const Origin& origin) {
  Share& process = processes_[&origin];
  process.unit = bytes_of(origin);
  process.wanted += process.unit;
}

void LabelBudget::share_out() {
  struct User {
    Share share;
    std::vector<Share*> processes;
  };
  std::map<std::string_view, User> users;
  for (auto& [origin, process] : processes_) {
    User& user = users[origin->owner];
    user.share.wanted += process.wanted;
    user.processes.push_back(&process);
  }
  std::vector<Share*> shares;
  for (auto& [name, user] : users) shares.push_back(&user.share);
  divide(bytes_, shares);
  for (auto& [name, user] : users) divide(user.share.left, user.processes);
}

// The modest first, so that what they leave is known when it is the others' turn.
void LabelBudget::divide(std::size_t bytes, std::vector<Share*> among) {
  std::sort(among.begin(), among.end(),
            [](const Share* a, const Share* b) { return a->wanted < b->wanted; });
  std::size_t waiting = among.size();
  for (Share* share : among) {
    share->left = std::min(share->wanted, bytes / waiting / share->unit * share->unit);
    bytes -= share->left;
    --waiting;
  }
}

bool LabelBudget::takes(const Origin& origin) {
  Share& process = processes_[&origin];
  const bool has_room = process.left >= process.unit;
  if (has_room) {
    process.left -= process.unit;
  } else {
    ++left_out_;
  }
  return has_room;
}

}  // namespace pcp::trace::agent
