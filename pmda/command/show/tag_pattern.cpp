// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/tag_pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pcp::trace::command {

namespace {

constexpr std::string_view kAfterTag = " \t";

}  // namespace

Result<TagPattern> TagPattern::take(std::string_view& rest) {
  TagPattern made;
  const bool is_quoted = rest.starts_with('"');
  if (is_quoted) {
    Result<std::string> taken = take_quoted(rest);
    if (!taken) return taken.error();
    made.text_ = *std::move(taken);
  }
  const auto parsed = [&](std::string_view text) {
    return is_quoted ? Result<Glob>(Glob::exactly(text)) : Glob::parse(text);
  };
  const std::string_view word = rest.substr(0, rest.find_first_of(kAfterTag));
  rest.remove_prefix(word.size());
  const std::size_t brace = is_quoted ? made.text_.size() : word.rfind('{');
  made.text_ += word;
  const Result<Glob> whole = parsed(made.text_);
  if (!whole) return Error{'"' + made.text_ + "\": " + whole.error().message};
  const Result<Glob> name = parsed(std::string_view(made.text_).substr(0, brace));
  if (name && brace < made.text_.size())
    if (const auto taken = made.take_labels(std::string_view(made.text_).substr(brace)); !taken)
      return taken.error();
  if (is_quoted && !word.empty() && made.labels_.empty())
    return Error{"expected labels, as in {status=5*}, or a blank after the quotation mark"};
  made.whole_ = *whole;
  made.name_ = made.labels_.empty() ? *whole : *name;
  return made;
}

Result<std::string> TagPattern::take_quoted(std::string_view& rest) {
  std::string name;
  rest.remove_prefix(1);
  while (!rest.empty() && !rest.starts_with('"')) {
    if (rest.starts_with('\\') && rest.size() > 1) rest.remove_prefix(1);
    name += rest.front();
    rest.remove_prefix(1);
  }
  if (rest.empty()) return Error{"the tag's closing quote is missing"};
  rest.remove_prefix(1);
  return name;
}

// Takes none if the text is not {key=PATTERN,...}. A tag's own text has semicolons.
Result<void> TagPattern::take_labels(std::string_view text) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return {};
  text = text.substr(1, text.size() - 2);
  std::vector<WantedLabel> found;
  while (!text.empty()) {
    const std::string_view label = text.substr(0, text.find_first_of(",;"));
    text.remove_prefix(std::min(label.size() + 1, text.size()));
    const std::size_t equals = label.find('=');
    if (equals == label.npos || !is_dimension_key(label.substr(0, equals))) return {};
    Result<Glob> value = Glob::parse(label.substr(equals + 1));
    if (!value) return Error{'"' + std::string(label) + "\": " + value.error().message};
    found.push_back({std::string(label.substr(0, equals)), *std::move(value)});
  }
  labels_ = std::move(found);
  return {};
}

bool TagPattern::matches(const std::string& tag) const {
  if (whole_.matches(tag)) return true;
  if (labels_.empty()) return false;
  const std::optional<Dimensions> its = parse_dimensions(tag);
  return its && name_.matches(its->name) && matches_labels(*its);
}

bool TagPattern::has_keys(const Dimensions& labels) const {
  return std::ranges::all_of(labels_,
                             [&](const auto& label) { return labels.find(label.key) != nullptr; });
}

bool TagPattern::matches_labels(const Dimensions& labels) const {
  return std::ranges::all_of(labels_, [&](const auto& label) {
    const std::string* const value = labels.find(label.key);
    return value != nullptr && label.value.matches(*value);
  });
}

std::string TagPattern::keys() const {
  std::string all;
  for (const WantedLabel& each : labels_) all += (all.empty() ? "" : ", ") + each.key;
  return all;
}

}  // namespace pcp::trace::command
