// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/tag_pattern.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cstddef>

namespace pcp::trace::command {

namespace {

constexpr std::string_view kAfterTag = " \t";

// A backslash in a pattern escapes. Tags need not be valid text of this locale.
bool matches_glob(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

}  // namespace

Result<TagPattern> TagPattern::take(std::string_view& rest) {
  TagPattern made;
  if (rest.starts_with('"')) {
    if (const Result<void> taken = made.take_quoted(rest); !taken) return taken.error();
  } else {
    made.is_glob_ = true;
  }
  const std::string_view word = rest.substr(0, rest.find_first_of(kAfterTag));
  rest.remove_prefix(word.size());
  made.text_ = made.name_ + std::string(word);
  const std::size_t brace = made.is_glob_ ? word.rfind('{') : 0;
  if (brace != word.npos && made.take_labels(word.substr(brace))) {
    if (made.is_glob_) made.name_ = word.substr(0, brace);
  } else if (made.is_glob_) {
    made.name_ = word;
  } else if (!word.empty()) {
    return Error{"behind the quotation mark come labels, as in {status=5*}, or a blank"};
  }
  return made;
}

Result<void> TagPattern::take_quoted(std::string_view& rest) {
  rest.remove_prefix(1);
  while (!rest.empty() && !rest.starts_with('"')) {
    if (rest.starts_with('\\') && rest.size() > 1) rest.remove_prefix(1);
    name_ += rest.front();
    rest.remove_prefix(1);
  }
  if (rest.empty()) return Error{"the tag's second quotation mark is missing"};
  rest.remove_prefix(1);
  return {};
}

// False, without labels, if the text is not {key=PATTERN,...}. A tag's own text has semicolons.
bool TagPattern::take_labels(std::string_view text) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return false;
  text = text.substr(1, text.size() - 2);
  std::vector<std::pair<std::string, std::string>> found;
  while (!text.empty()) {
    const std::string_view label = text.substr(0, text.find_first_of(",;"));
    text.remove_prefix(std::min(label.size() + 1, text.size()));
    const std::size_t equals = label.find('=');
    if (equals == label.npos || !is_dimension_key(label.substr(0, equals))) return false;
    found.emplace_back(label.substr(0, equals), label.substr(equals + 1));
  }
  labels_ = std::move(found);
  return !labels_.empty();
}

bool TagPattern::matches_name(const std::string& bare_name) const {
  return is_glob_ ? matches_glob(name_, bare_name) : name_ == bare_name;
}

bool TagPattern::matches(const std::string& tag) const {
  if (is_glob_ ? matches_glob(text_, tag) : text_ == tag) return true;
  if (labels_.empty()) return false;
  const std::optional<Dimensions> its = parse_dimensions(tag);
  return its && matches_name(std::string(its->name)) && matches_labels(*its);
}

bool TagPattern::may_match_without_room(const std::string& tag) const {
  if (matches(tag)) return false;
  const std::size_t sign = is_glob_ ? text_.find_first_of("*?[\\") : text_.npos;
  if (tag == kOverflowName) return !labels_.empty() || sign != text_.npos;
  const Dimensions own = parse_dimensions(tag).value_or(Dimensions{tag, {}});
  if (!labels_.empty())
    return matches_name(std::string(own.name)) && std::ranges::all_of(labels_, [&](auto& label) {
             const std::string* const value = own.find(label.first);
             return value == nullptr || matches_glob(label.second, *value);
           });
  // A pattern of the whole text: only its beginning, before the first sign, is certain.
  const std::string_view begin = std::string_view(text_).substr(0, sign);
  const std::string name = std::string(own.name) + '{';
  return sign != text_.npos && (begin.starts_with(name) || name.starts_with(begin));
}

bool TagPattern::has_keys(const Dimensions& labels) const {
  return std::ranges::all_of(
      labels_, [&](const auto& label) { return labels.find(label.first) != nullptr; });
}

bool TagPattern::matches_labels(const Dimensions& labels) const {
  return std::ranges::all_of(labels_, [&](const auto& label) {
    const std::string* const value = labels.find(label.first);
    return value != nullptr && matches_glob(label.second, *value);
  });
}

std::string TagPattern::keys() const {
  std::string all;
  for (const auto& [key, value] : labels_) all += (all.empty() ? "" : ", ") + key;
  return all;
}

}  // namespace pcp::trace::command
