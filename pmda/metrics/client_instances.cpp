// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/client_instances.hpp"

#include <limits>
#include <utility>

#include "base/escape.hpp"

namespace pcp::trace::agent {

namespace {

constexpr Duration kShownAfter = std::chrono::seconds(5);

// Linux pids are below this limit. Numbers above it are for processes whose pid is also used in
// another container or on another machine.
constexpr int kPidLimit = 1 << 22;

std::string shown_name(int number, const ClientView& view) {
  std::string name = std::to_string(view.pid);
  if (number >= kPidLimit) name += "#" + std::to_string(number - kPidLimit + 2);
  return name + " " + printable(view.process, kMaxShownBytes);
}

}  // namespace

ClientInstances::ClientInstances() : spare_(kPidLimit) {}

void ClientInstances::refresh(const Reader& reader, Instant now) {
  instances_.clear();
  std::map<std::uint64_t, int> still_shown;
  reader.clients([&](std::uint64_t connection, ClientView&& view) {
    if (now - view.connected_at <= kShownAfter) return;
    const int number = number_of(connection, view.pid);
    still_shown[connection] = number;
    instances_.push_back({{number, shown_name(number, view)}, std::move(view)});
  });
  taken_.clear();
  for (const auto& [connection, number] : still_shown) taken_.insert(number);
  numbers_ = std::move(still_shown);
}

const ClientInstance* ClientInstances::find(int number) const {
  return find_if([number](const Instance& instance) { return instance.number == number; });
}

const ClientInstance* ClientInstances::find(std::string_view name) const {
  return find_if([name](const Instance& instance) { return means(name, instance.name); });
}

int ClientInstances::number_of(std::uint64_t connection, std::uint32_t pid) {
  const auto known = numbers_.find(connection);
  if (known != numbers_.end()) return known->second;
  int number = static_cast<int>(pid % kPidLimit);
  while (!taken_.insert(number).second) {
    number = spare_;
    spare_ = spare_ == std::numeric_limits<int>::max() ? kPidLimit : spare_ + 1;
  }
  return number;
}

}  // namespace pcp::trace::agent
