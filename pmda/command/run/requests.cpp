// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/requests.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostTraits = 5;
constexpr std::size_t kMostSteps = 3;
constexpr double kLeastShare = 0.005;  // of the group's time, for a step to be told
constexpr double kTimesOthers = 2;     // a trait is so many times as frequent as among the others

}  // namespace

std::vector<const RequestStep*> Requests::steps_of(RequestGroup group) const {
  const auto excess = [&](const RequestStep* step) {
    return step->self_ns.share_in(group, count) - step->self_ns.share_beside(group, count);
  };
  std::vector<const RequestStep*> found;
  for (const RequestStep& step : steps)
    if (excess(&step) > 0 && step.self_ns.share_in(group, time_ns) >= kLeastShare)
      found.push_back(&step);
  std::ranges::stable_sort(found, std::greater<>(), excess);
  found.resize(std::min(found.size(), kMostSteps));
  const auto longest = std::ranges::max_element(
      steps, {}, [&](const RequestStep& step) { return step.self_ns.of(group); });
  if (longest == steps.end() || std::ranges::find(found, &*longest) != found.end()) return found;
  if (found.size() == kMostSteps) found.pop_back();
  found.push_back(&*longest);
  return found;
}

std::vector<const RequestTrait*> Requests::traits_of(RequestGroup group) const {
  const auto excess = [&](const RequestTrait* trait) {
    return trait->requests.share_in(group, count) - trait->requests.share_beside(group, count);
  };
  std::vector<const RequestTrait*> found;
  for (const RequestTrait& trait : traits) {
    const double its = trait.requests.share_in(group, count);
    if (has(group) && trait.requests.of(group) > 1 && its >= kFrequent &&
        its >= kTimesOthers * trait.requests.share_beside(group, count))
      found.push_back(&trait);
  }
  std::ranges::sort(found, [&](const RequestTrait* one, const RequestTrait* other) {
    return std::tuple(-excess(one), one->key, one->value) <
           std::tuple(-excess(other), other->key, other->value);
  });
  found.resize(std::min(found.size(), kMostTraits));
  return found;
}

}  // namespace pcp::trace::command
