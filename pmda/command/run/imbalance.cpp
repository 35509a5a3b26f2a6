// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/imbalance.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "command/run/figures.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::command {

namespace {

// A report names no more values.
constexpr std::size_t kMostValues = 100;

// Type, name, label.
using Key = std::tuple<TraceType, std::string, std::string>;

std::optional<double> total_of(const Tag& tag) {
  if (may_have_nonfinite(tag) || lacks_failed(tag, Figure::Total)) return {};
  switch (tag.type) {
    case TraceType::Transact:
    case TraceType::Observe:
      return tag.sum;
    case TraceType::Counter:
      return tag.counted;
    case TraceType::Point:
      return tag.calls;
  }
  return {};
}

struct Sums {
  std::map<std::string, double> by_value;
  bool are_known = true;
};

std::optional<Imbalance> imbalance_of(const Key& key, const Sums& sums) {
  if (!sums.are_known || sums.by_value.size() < 2) return {};
  Imbalance found;
  std::tie(found.type, found.name, found.label) = key;
  found.count = sums.by_value.size();
  for (const auto& [value, total] : sums.by_value) {
    if (total < 0) return {};
    found.mean += total / static_cast<double>(found.count);
    found.values.push_back({value, total});
  }
  if (found.mean == 0) return {};
  std::ranges::stable_sort(found.values, std::greater<>(), &LabelValue::total);
  found.least = found.values.back().total;
  found.least_value = found.values.back().value;
  found.values.resize(std::min(found.values.size(), kMostValues));
  return found;
}

}  // namespace

std::vector<Imbalance> imbalances_of(const std::vector<Tag>& tags) {
  std::map<Key, Sums> all;
  for (const Tag& tag : tags) {
    const auto parsed = parse_dimensions(tag.name);
    if (!parsed) continue;
    const std::optional<double> total = total_of(tag);
    for (const Dimension& label : parsed->labels) {
      Sums& sums = all[{tag.type, std::string(parsed->name), std::string(label.key)}];
      sums.by_value[label.value] += total.value_or(0);
      sums.are_known = sums.are_known && total;
    }
  }
  std::vector<Imbalance> found;
  for (const auto& [key, sums] : all)
    if (std::optional<Imbalance> one = imbalance_of(key, sums)) found.push_back(*std::move(one));
  // Times come first, because people wait for them.
  const auto loss = [](const Imbalance& each) {
    return std::pair(each.type == TraceType::Transact, each.greatest() - each.mean);
  };
  std::ranges::stable_sort(found, std::greater<>(), loss);
  return found;
}

bool is_uneven(const Imbalance& imbalance) {
  constexpr double kLeastRatio = 1.1;
  constexpr std::array<std::string_view, 3> kOfProcesses{"rank", "host", "pid"};
  return imbalance.ratio() >= kLeastRatio &&
         std::ranges::find(kOfProcesses, imbalance.label) != kOfProcesses.end();
}

}  // namespace pcp::trace::command
