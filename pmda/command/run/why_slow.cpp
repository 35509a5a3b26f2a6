// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/why_slow.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>

#include "wire/dimensions.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostRequestNames = 32;
constexpr std::size_t kMostStepNames = 10'000;  // that are counted; further ones are one step
constexpr std::size_t kMostStepsApart = 500;    // of these, with the greatest shares
constexpr std::size_t kMostTraitsOfOne = 128;
constexpr std::uint64_t kOneOf = 100;  // the slowest 1%

bool is_tree(const Node& node) { return node.parent == nullptr && !node.span->is_event(); }

// A tree. A call from an unknown process is a request, unless it is a torn part of its trace: see
// TornSpans.
bool is_request(const Node& node, bool is_alone) {
  return is_tree(node) &&
         (is_alone || !node.lacks_parent() || node.span->kind == wire::SpanKind::Server);
}

std::array<std::uint64_t, 3> rank_of(const SpanEvent& request, std::uint64_t number) {
  return {number, request.trace.low, request.span};
}

// Spreads ids evenly, so that the highest ones are a fair sample.
std::uint64_t spread_evenly(std::uint64_t id) {
  id = (id ^ id >> 32) * 0x9e3779b97f4a7c15;
  return id ^ id >> 29;
}

template <typename Take>
void for_each_trait(std::span<const Node> tree, Take take) {
  for (const Node& node : tree) {
    const SpanEvent& span = *node.span;
    if (const auto parsed = parse_dimensions(span.tag))
      for (const auto& [key, value] : parsed->labels) take(key, value);
    for (const ShownAttribute& each : attributes_of(span.attributes)) take(each.key, each.text);
    if (!span.reason.empty()) take("reason", span.reason);
  }
}

std::size_t hash_of(std::string_view key, std::string_view value) {
  return std::hash<std::string>()(std::string(key).append(1, '\0').append(value));
}

// Up to kMostTraitsOfOne, the request's own first.
std::vector<std::size_t> traits_of(std::span<const Node> tree) {
  std::set<std::size_t> traits;
  for_each_trait(tree, [&](std::string_view key, std::string_view value) {
    if (traits.size() < kMostTraitsOfOne) traits.insert(hash_of(key, value));
  });
  return {traits.begin(), traits.end()};
}

// The time while a node runs, and nothing inside of it. Time outside of the request counts for
// nothing. By order of their begins, what is inside of a node covers it from its begin on; a node
// that is covered to some time has ancestors that are, too.
std::vector<std::uint64_t> self_times(std::span<const Node> tree) {
  const SpanEvent& request = *tree.front().span;
  struct Time {
    std::size_t parent;  // its own place: none
    std::uint64_t begin, end, self;
    std::uint64_t covered = 0;
  };
  std::vector<Time> times;
  std::vector<std::size_t> path;
  for (const Node& node : tree) {
    const SpanEvent& span = *node.span;
    const std::uint64_t begin = std::max(span.begin_ns, request.begin_ns);
    const std::uint64_t end = std::max(begin, std::min(span.end_ns(), request.end_ns()));
    path.resize(node.depth);
    times.push_back({path.empty() ? 0 : path.back(), begin, end, end - begin});
    path.push_back(times.size() - 1);
  }
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times[i].begin; });
  for (const std::size_t inner : order)
    for (std::size_t i = inner; i != 0;) {
      Time& outer = times[i = times[i].parent];
      if (outer.covered >= times[inner].end) break;
      const std::uint64_t from = std::max({times[inner].begin, outer.begin, outer.covered});
      const std::uint64_t to = std::min(times[inner].end, outer.end);
      if (to > from) outer.self -= to - from;
      outer.covered = times[inner].end;
    }
  std::vector<std::uint64_t> self(times.size());
  std::ranges::transform(times, self.begin(), &Time::self);
  return self;
}

// Only the steps with the greatest share of a group's time stay apart.
void join_small(std::vector<RequestStep>& steps, const OfGroups& time_ns) {
  if (steps.size() <= kMostStepsApart) return;
  std::ranges::stable_sort(steps, std::greater<>(), [&](const RequestStep& step) {
    double greatest = 0;
    for (const RequestGroup group : kRequestGroups)
      greatest = std::max(greatest, step.self_ns.share_in(group, time_ns));
    return greatest;
  });
  RequestStep rest{std::string(kOverflowName), {}};
  for (std::size_t i = kMostStepsApart; i < steps.size(); ++i)
    for (const RequestGroup group : kRequestGroups)
      rest.self_ns.of(group) += steps[i].self_ns.of(group);
  steps.resize(kMostStepsApart);
  steps.push_back(std::move(rest));
}

}  // namespace

// Late parts have lost their request, and cut traces some steps.
template <typename Take>
std::uint64_t WhySlow::for_each_request(const SpanTrace& trace, Take take) {
  if (trace.is_late || trace.spans_left_out > 0) return trace.is_late ? 0 : 1;
  std::uint64_t left_out = 0;
  const std::vector<Node> nodes = nodes_of(trace);
  const bool is_alone = std::ranges::count_if(nodes, is_tree) == 1;
  for (std::size_t begin = 0, end = 0; begin < nodes.size(); begin = end) {
    for (end = begin + 1; end < nodes.size() && nodes[end].depth > 0; ++end) {
    }
    const SpanEvent& request = *nodes[begin].span;
    if (!is_request(nodes[begin], is_alone) || (times_of_ && !request.ended(*times_of_))) continue;
    const std::optional<std::string> group = choice_.group_of(request.tag);
    if (!group) continue;
    const std::string tag = choice_.by ? *group : std::string(bare_name(*group));
    if (tags_.contains(tag) || tags_.size() < kMostRequestNames)
      take(tags_[tag], std::span(nodes).subspan(begin, end - begin));
    else
      ++left_out;
  }
  return left_out;
}

void WhySlow::choose(const SpanTrace& trace) {
  left_out_ += for_each_request(trace, [this](Counted& counted, Tree tree) {
    const SpanEvent& request = *tree.front().span;
    ++counted.chosen;
    const auto add = [&](Sample& sample, std::uint64_t number) {
      const Rank rank = rank_of(request, number);
      if (sample.size() >= most_ && rank < sample.begin()->first) return;
      sample.emplace(rank, traits_of(tree));
      if (sample.size() > most_) sample.erase(sample.begin());
    };
    add(counted.slowest, request.duration_ns);
    if (request.aborted) add(counted.failed, spread_evenly(request.span));
  });
}

bool WhySlow::decide() {
  for (auto& [tag, counted] : tags_) {
    const std::size_t slowest = (counted.chosen + kOneOf - 1) / kOneOf;
    while (counted.slowest.size() > slowest) counted.slowest.erase(counted.slowest.begin());
    for (const Sample* const sample : {&counted.slowest, &counted.failed}) {
      std::unordered_map<std::size_t, std::size_t> counts;
      for (const auto& [rank, traits] : *sample)
        for (const std::size_t each : traits) ++counts[each];
      for (const auto& [trait, count] : counts)
        if (share(count, sample->size()) >= kFrequent) counted.traits[trait];
    }
  }
  return !tags_.empty();
}

// An archive may have grown since: what is new is left out.
void WhySlow::count(const SpanTrace& trace) {
  for_each_request(trace, [](Counted& counted, Tree tree) {
    if (counted.chosen > 0) count_request(counted, tree);
  });
}

void WhySlow::count_request(Counted& counted, Tree tree) {
  const SpanEvent& request = *tree.front().span;
  Requests& all = counted.requests;
  std::vector<RequestGroup> groups{RequestGroup::All};
  if (rank_of(request, request.duration_ns) >= counted.slowest.begin()->first)
    groups.push_back(RequestGroup::Slowest);
  if (request.aborted) groups.push_back(RequestGroup::Failed);
  const auto add = [&](OfGroups& numbers, std::uint64_t number) {
    for (const RequestGroup group : groups) numbers.of(group) += number;
  };
  add(all.count, 1);
  add(all.time_ns, request.duration_ns);
  if (std::ranges::any_of(tree, [](const Node& node) { return node.span->left_out > 0; }))
    ++all.lack_notes;
  const std::vector<std::uint64_t> self = self_times(tree);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (tree[i].span->is_event()) continue;
    std::string_view name = i == 0 ? std::string_view() : bare_name(tree[i].span->tag);
    auto step = counted.steps.find(name);
    if (step == counted.steps.end()) {
      if (counted.steps.size() >= kMostStepNames) name = kOverflowName;
      step = counted.steps.try_emplace(std::string(name)).first;
    }
    add(step->second, self[i]);
  }
  for_each_trait(tree, [&](std::string_view key, std::string_view value) {
    const auto found = counted.traits.find(hash_of(key, value));
    if (found == counted.traits.end()) return;
    Trait& trait = found->second;
    if (trait.last == 0) {
      trait.key = key;
      trait.value = value;
    }
    if (trait.last == all.count.of(RequestGroup::All) || trait.key != key || trait.value != value)
      return;
    trait.last = all.count.of(RequestGroup::All);
    add(trait.requests, 1);
  });
}

std::vector<Requests> WhySlow::take() {
  std::vector<Requests> found;
  for (auto& [tag, counted] : tags_) {
    Requests& its = counted.requests;
    its.tag = tag;
    if (its.count.of(RequestGroup::All) == 0) continue;
    its.slowest_from_ns = counted.slowest.begin()->first.front();
    for (const auto& [name, self_ns] : counted.steps) its.steps.push_back({name, self_ns});
    join_small(its.steps, its.time_ns);
    const auto time = [](const auto& each) { return each.of(RequestGroup::All); };
    std::ranges::stable_sort(its.steps, std::greater<>(),
                             [&](const RequestStep& step) { return time(step.self_ns); });
    for (const auto& [hash, trait] : counted.traits) its.traits.push_back(trait);
    std::vector<RequestTrait> frequent;
    for (const RequestGroup group : {RequestGroup::Slowest, RequestGroup::Failed})
      for (const RequestTrait* const each : its.traits_of(group))
        if (std::ranges::find(frequent, *each) == frequent.end()) frequent.push_back(*each);
    its.traits = std::move(frequent);
    found.push_back(std::move(its));
  }
  tags_.clear();
  std::ranges::stable_sort(found, std::greater<>(),
                           [](const Requests& each) { return each.time_ns.of(RequestGroup::All); });
  return found;
}

}  // namespace pcp::trace::command
