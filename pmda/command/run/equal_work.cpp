// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/equal_work.hpp"

#include <algorithm>
#include <cmath>

namespace pcp::trace::command {

namespace {

struct Ratio {
  double factor;
  double weight;
  const ComparedTag* tag;
};

// The lower and the upper median are the same, unless the weights have two equal halves. Then the
// median is the one nearer to no change.
const Ratio& median_of(std::vector<Ratio>& ratios) {
  std::ranges::stable_sort(ratios, {}, &Ratio::factor);
  double all = 0;
  for (const Ratio& each : ratios) all += each.weight;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < ratios.size(); ++i) {
    sum += ratios[i].weight;
    if (sum < all / 2) continue;
    const bool is_upper_nearer =
        std::abs(std::log(ratios[i + 1].factor)) < std::abs(std::log(ratios[i].factor));
    return sum == all / 2 && is_upper_nearer ? ratios[i + 1] : ratios[i];
  }
  return ratios.back();
}

// The weight of a tag is its smaller share of both runs: a tag that is important in only one run
// does not decide.
template <typename SizeOf>
std::vector<Ratio> ratios_of(const std::vector<ComparedTag>& tags, SizeOf size_of) {
  double before = 0;
  double now = 0;
  for (const ComparedTag& each : tags) {
    before += size_of(*each.before);
    now += size_of(*each.now);
  }
  std::vector<Ratio> ratios;
  for (const ComparedTag& each : tags) {
    const double calls_before = all_calls(*each.before);
    const double calls_now = all_calls(*each.now);
    if (calls_before <= 0 || calls_now <= 0 || before <= 0 || now <= 0) continue;
    const double weight = std::min(size_of(*each.before) / before, size_of(*each.now) / now);
    if (weight > 0) ratios.push_back({calls_now / calls_before, weight, &each});
  }
  return ratios;
}

}  // namespace

EqualWork equal_work(const std::vector<ComparedTag>& tags) {
  std::vector<Ratio> ratios = ratios_of(tags, [](const Tag& tag) {
    return tag.type == TraceType::Transact ? std::max(tag.sum.value_or(0), 0.0) : 0;
  });
  if (ratios.empty()) ratios = ratios_of(tags, all_calls);
  if (ratios.empty()) return {};
  const Ratio& median = median_of(ratios);
  return {median.factor, median.tag};
}

}  // namespace pcp::trace::command
