// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/why_slow.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "command/show/markdown.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostListedNames = 3;
constexpr std::size_t kMostOfName = 40;

// Neither 0% nor 100% if some or not all have it.
std::string percent(double share) {
  const long rounded = std::lround(share * 100);
  if (rounded == 0 && share > 0) return "<1%";
  if (rounded == 100 && share < 1) return ">99%";
  return std::to_string(rounded) + "%";
}

// The words for a group of requests.
struct Common {
  std::string tag;
  std::string which;               // "the slowest 40 of 3,955 captured, from 153 ms"
  std::vector<std::string> steps;  // "search-index 42% (others 16%)"
  std::vector<std::string> traits;
};

std::string beside(const OfGroups& part, const OfGroups& whole, RequestGroup group) {
  return " " + percent(part.share_in(group, whole)) + " (others " +
         percent(part.share_beside(group, whole)) + ")";
}

Common common(const Requests& requests, RequestGroup group, const Shown& shown) {
  const auto count = [&](RequestGroup of) {
    return Shown::count(static_cast<double>(requests.count.of(of)));
  };
  Common found{requests.tag,
               (group == RequestGroup::Slowest ? "the slowest " : "the failed ") + count(group) +
                   " of " + count(RequestGroup::All) + " captured",
               {},
               {}};
  if (group == RequestGroup::Slowest)
    found.which += ", from " + shown.duration(static_cast<double>(requests.slowest_from_ns) / 1e9);
  if (requests.lack_notes > 0)
    found.which +=
        "; " + Shown::count(static_cast<double>(requests.lack_notes)) + " of all lack some notes";
  for (const RequestStep* const step : requests.steps_of(group))
    found.steps.push_back(
        (step->name.empty() ? "not in any step" : shown.name(step->name, kMostOfName)) +
        beside(step->self_ns, requests.time_ns, group));
  for (const RequestTrait* const trait : requests.traits_of(group))
    found.traits.push_back(shown.name(trait->key + "=" + trait->value, kMostOfName) +
                           beside(trait->requests, requests.count, group));
  return found;
}

std::vector<Common> all_common(const std::vector<Requests>& all, const Shown& shown,
                               std::size_t most_tags) {
  std::vector<Common> found;
  std::size_t tags = 0;
  for (const Requests& each : all) {
    if (tags == most_tags) break;
    if (each.steps.size() < 2 && each.traits.empty()) continue;  // nothing to tell
    const std::size_t others = found.size();
    for (const RequestGroup group : {RequestGroup::Slowest, RequestGroup::Failed})
      if (each.has(group) && each.count.of(group) > 1)  // a tree below shows a single one
        found.push_back(common(each, group, shown));
    if (found.size() > others) ++tags;
  }
  return found;
}

// Empty: usual ones were recorded, too, or that is not known.
std::string only_chosen(const RecordedSpans& spans, const Shown& shown) {
  std::string had;
  const auto add = [&had](const std::string& reason) {
    had += (had.empty() ? "" : " and ") + reason;
  };
  if (spans.slower_ns > 0)
    add("took " + shown.duration(static_cast<double>(spans.slower_ns) / 1e9) + " or more");
  if ((spans.reasons & wire::kIfFailed) != 0) add("failed");
  if ((spans.reasons & wire::kIfWanted) != 0) add("was wanted by its program");
  if ((spans.reasons & wire::kIfDied) != 0) add("was open when its process died");
  if (had.empty()) return "";
  return std::string("only ") + (spans.reasons == 0 ? "slow" : "chosen") +
         " requests were recorded: in each, a transaction " + had;
}

std::string left_out(const RecordedSpans& spans) {
  return Shown::count(static_cast<double>(spans.not_in_requests)) +
         " left out: traces that lack spans, or requests of further tags";
}

std::string lines(const std::string& label, const std::vector<std::string>& parts,
                  const Shown& shown) {
  if (parts.empty()) return "";
  std::string text;
  std::string line = "  " + label + "  " + parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (columns_of(line) + columns_of(parts[i]) + 3 <= shown.terminal().columns)
      line.append(", ").append(parts[i]);
    else
      text += std::exchange(line, std::string(label.size() + 4, ' ') + parts[i]) + ",\n";
  return text + line + "\n";
}

}  // namespace

std::string why_slow(const RecordedSpans& spans, const Shown& shown, std::size_t most_tags) {
  std::string text;
  for (const Common& each : all_common(spans.requests, shown, most_tags)) {
    const std::string rest = ": " + each.which;
    text += shown.bold(shown.name(each.tag, room_after(shown.terminal().columns, rest.size()))) +
            rest + "\n" + lines("time", each.steps, shown) + lines("with", each.traits, shown);
  }
  const std::string which = only_chosen(spans, shown);
  if (!text.empty() && !which.empty()) text += which + "\n";
  if (spans.not_in_requests > 0) text += shown.faint(left_out(spans)) + "\n";
  return text.empty() ? "" : "\n" + text;
}

std::string why_slow_markdown(const RecordedSpans& spans, const Shown& shown) {
  const auto listed = [](const std::string& label, const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts)
      text += (text.empty() ? "  - " + label + ": " : ", ") + markdown_code(part);
    return text.empty() ? "" : text + "\n";
  };
  std::string text;
  for (const Common& each : all_common(spans.requests, shown, kMostListedNames))
    text += "- " + markdown_code(shown.name(each.tag, kMostOfName)) + ": " + each.which + "\n" +
            listed("time", each.steps) + listed("with", each.traits);
  const std::string which = only_chosen(spans, shown);
  if (!text.empty() && !which.empty()) text += "- " + which + "\n";
  if (spans.not_in_requests > 0) text += "- " + left_out(spans) + "\n";
  return text.empty() ? "" : "**Requests:**\n\n" + text + "\n";
}

}  // namespace pcp::trace::command
