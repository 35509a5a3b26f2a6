// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/instances.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/escape.hpp"
#include "collector/engine/instance_names.hpp"
#include "wire/first_word.hpp"

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

bool means(std::string_view asked, std::string_view name) {
  return asked == name || asked == first_word(name);
}

char* copy_of(const std::string& text) {
  char* const copy = pmapi::allocate<char>(text.size() + 1);
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace

template <typename Instances>
int answer_instances(const Instances& instances, pmInDom indom, int number, const char* name,
                     pmInResult** result) {
  const bool is_for_all = name == nullptr && number == static_cast<int>(PM_IN_NULL);
  const Instance* found = nullptr;
  if (!is_for_all) {
    found = name ? instances.find(std::string_view(name)) : instances.find(number);
    if (!found) return PM_ERR_INST;
  }
  const std::size_t count = is_for_all ? instances.all().size() : 1;
  pmInResult& answer = *(*result = pmapi::allocate<pmInResult>(1));
  answer.indom = indom;
  answer.numinst = static_cast<int>(count);
  if (is_for_all || name) answer.instlist = pmapi::allocate<int>(count);
  if (!name) answer.namelist = pmapi::allocate<char*>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Instance& each = is_for_all ? instances.all()[i] : *found;
    if (answer.instlist) answer.instlist[i] = each.number;
    if (answer.namelist) answer.namelist[i] = copy_of(each.name);
  }
  return 0;
}

template int answer_instances(const TagInstances&, pmInDom, int, const char*, pmInResult**);
template int answer_instances(const ClientInstances&, pmInDom, int, const char*, pmInResult**);

void TagInstances::refresh(const Reader& reader) {
  const std::uint32_t life = reader.life();
  if (std::exchange(life_, life) != life) {
    instances_.clear();
    by_number_.clear();
    by_first_word_.clear();
  }
  reader.instances(type_, instances_.size(), [this](const InstanceName& each) {
    std::string name = shown_name(each.tag, each.instance, each.suffixes);
    by_number_[each.instance] = instances_.size();
    by_first_word_[std::string(first_word(name))] = instances_.size();
    instances_.push_back({each.instance, std::move(name)});
  });
}

const Instance* TagInstances::find(int number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : &instances_[found->second];
}

const Instance* TagInstances::find(std::string_view name) const {
  const auto found = by_first_word_.find(std::string(first_word(name)));
  if (found == by_first_word_.end()) return nullptr;
  const Instance& instance = instances_[found->second];
  return means(name, instance.name) ? &instance : nullptr;
}

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

template <typename Test>
const ClientInstance* ClientInstances::find_if(Test test) const {
  const auto found = std::find_if(instances_.begin(), instances_.end(), test);
  return found == instances_.end() ? nullptr : &*found;
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
