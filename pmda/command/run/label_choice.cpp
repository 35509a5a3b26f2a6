// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/label_choice.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "wire/dimensions.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::string_view kOfName = "name";  // --by name: without any label

// Cuts at commas. A comma behind a backslash belongs to the text.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ',') {
      parts.emplace_back();
      continue;
    }
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != ',') parts.back() += text[at];
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    parts.back() += text[at];
  }
  return parts;
}

Error no_label(const std::string& key) {
  return {"\"" + key + "\" is no label's name, as in route or rank"};
}

}  // namespace

std::vector<std::string> LabelChoice::keys() const {
  std::vector<std::string> all = by.value_or(std::vector<std::string>());
  for (const WantedLabel& each : where)
    if (std::ranges::find(all, each.key) == all.end()) all.push_back(each.key);
  return all;
}

std::string LabelChoice::options_that_leave_out() const {
  if (!names) return where.empty() ? "" : "--where";
  return where.empty() ? "--filter" : "--where and --filter";
}

std::optional<std::string> LabelChoice::group_of(const std::string& tag) const {
  const Dimensions parsed = parse_dimensions(tag).value_or(Dimensions{tag, {}});
  if (names && !names->matches(tag) && !names->matches(parsed.name)) return {};
  for (const auto& [key, value] : where) {
    const std::string* const label = parsed.find(key);
    if (label == nullptr || !value.matches(*label)) return {};
  }
  if (!by) return tag;
  std::vector<DimensionView> labels;
  for (const std::string& key : *by)
    if (const std::string* const label = parsed.find(key)) labels.emplace_back(key, *label);
  std::string group;
  compose_dimensions(group, parsed.name, labels, tag.size());
  return group;
}

bool LabelChoice::may_take_sets_of(const std::string& name) const {
  return !names || names->matches(name) || names->may_begin_with(name + '{');
}

Result<std::vector<std::string>> parse_by(const std::string& text) {
  std::vector<std::string> labels;
  for (const std::string& key : parts_of(text)) {
    if (key == kOfName) continue;
    if (!is_dimension_key(key)) return no_label(key);
    if (std::ranges::find(labels, key) == labels.end()) labels.push_back(key);
  }
  return labels;
}

Result<std::vector<WantedLabel>> parse_where(const std::string& text) {
  std::vector<WantedLabel> wanted;
  for (const std::string& part : parts_of(text)) {
    const std::size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    if (!is_dimension_key(key)) return no_label(key);
    if (equals == part.npos) return Error{"\"" + part + "\" lacks a value, as in route=/cart"};
    Result<Glob> value = Glob::parse(std::string_view(part).substr(equals + 1));
    if (!value) return Error{"\"" + part + "\": " + value.error().message};
    wanted.push_back({key, *std::move(value)});
  }
  return wanted;
}

}  // namespace pcp::trace::command
