// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/glob.hpp"

#include <algorithm>
#include <utility>

namespace pcp::trace {

namespace {

std::uint8_t byte_of(char c) { return static_cast<std::uint8_t>(c); }

char take(std::string_view& rest) {
  const char front = rest.front();
  rest.remove_prefix(1);
  return front;
}

// Takes a literal byte: any byte, or the one after a backslash.
Result<std::uint8_t> take_literal(std::string_view& rest) {
  const char c = take(rest);
  if (c != '\\') return byte_of(c);
  if (rest.empty()) return Error{"a backslash must not be its last character"};
  return byte_of(take(rest));
}

// First byte value beyond ASCII. Sets refuse such bytes: a UTF-8 letter has several.
constexpr std::uint8_t kFirstNoAscii = 0x80;

// Takes a byte or a range.
Result<void> take_members(std::string_view& rest, std::bitset<256>& set) {
  const auto first = take_literal(rest);
  if (!first) return first.error();
  std::uint8_t last = *first;
  if (rest.size() >= 2 && rest[0] == '-' && rest[1] != ']') {
    rest.remove_prefix(1);
    const auto end = take_literal(rest);
    if (!end) return end.error();
    last = *end;
  }
  if (*first >= kFirstNoAscii || last >= kFirstNoAscii) return Error{"[..] takes ASCII only"};
  if (last < *first) return Error{"a range in [..] ends before it begins"};
  for (std::size_t byte = *first; byte <= last; ++byte) set.set(byte);
  return {};
}

// Takes the set after a [.
Result<std::bitset<256>> take_set(std::string_view& rest) {
  const bool is_negated = !rest.empty() && (rest.front() == '!' || rest.front() == '^');
  if (is_negated) rest.remove_prefix(1);
  std::bitset<256> set;
  while (!rest.empty() && rest.front() != ']') {
    if (const auto taken = take_members(rest, set); !taken) return taken.error();
  }
  if (rest.empty()) return Error{"] is missing; write a literal [ as \\["};
  if (set.none()) return Error{"a [] is empty; a ] in it is \\]"};
  rest.remove_prefix(1);
  return is_negated ? ~set : set;
}

void append_escaped(std::string& out, char c, std::string_view specials) {
  if (specials.find(c) != specials.npos) out += '\\';
  out += c;
}

}  // namespace

Result<Glob> Glob::parse(std::string_view pattern) {
  Glob glob;
  std::vector<Part>& parts = glob.parts_;
  while (!pattern.empty()) {
    if (pattern.front() == '*') {
      pattern.remove_prefix(1);
      if (parts.empty() || parts.back().kind != Kind::Star) parts.push_back({Kind::Star, 0});
      continue;
    }
    ++glob.least_length_;
    if (pattern.front() == '?') {
      pattern.remove_prefix(1);
      // Turns *? into ?*, the canonical form.
      const bool after_star = !parts.empty() && parts.back().kind == Kind::Star;
      parts.insert(parts.end() - (after_star ? 1 : 0), Part{Kind::Any, 0});
    } else if (pattern.front() == '[') {
      pattern.remove_prefix(1);
      const auto set = take_set(pattern);
      if (!set) return set.error();
      glob.add_set(*set);
    } else {
      const auto byte = take_literal(pattern);
      if (!byte) return byte.error();
      parts.push_back({Kind::Byte, *byte});
    }
  }
  return glob;
}

Glob Glob::exactly(std::string_view text) {
  Glob glob;
  for (const char c : text) glob.parts_.push_back({Kind::Byte, byte_of(c)});
  glob.least_length_ = text.size();
  return glob;
}

// Stores a set of one byte as that byte.
void Glob::add_set(const Set& set) {
  if (set.count() == 1) {
    std::uint16_t byte = 0;
    while (!set[byte]) ++byte;
    parts_.push_back({Kind::Byte, byte});
  } else {
    parts_.push_back({Kind::Set, static_cast<std::uint16_t>(sets_.size())});
    sets_.push_back(set);
  }
}

bool Glob::takes(const Part& part, char c) const {
  switch (part.kind) {
    case Kind::Byte:
      return part.value == byte_of(c);
    case Kind::Set:
      return sets_[part.value][byte_of(c)];
    case Kind::Any:
      return true;
    case Kind::Star:
      break;
  }
  return false;
}

// Retries only the last star, with one byte more: the last star can take all bytes that an earlier
// one could. So there is no exponential case.
bool Glob::matches(std::string_view text) const {
  if (text.size() < least_length_) return false;
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t part = 0;
  std::size_t at = 0;
  std::size_t after_star = kNone;  // index of the part behind the last star
  std::size_t star_end = 0;        // end of what that star takes
  while (at < text.size()) {
    if (part < parts_.size() && parts_[part].kind == Kind::Star) {
      after_star = ++part;
      star_end = at;
      if (part == parts_.size()) return true;
    } else if (part < parts_.size() && takes(parts_[part], text[at])) {
      ++part;
      ++at;
    } else if (after_star != kNone) {
      part = after_star;
      at = ++star_end;
    } else {
      return false;
    }
  }
  while (part < parts_.size() && parts_[part].kind == Kind::Star) ++part;
  return part == parts_.size();
}

// From the first star on, any text does.
bool Glob::may_begin_with(std::string_view begin) const {
  for (std::size_t at = 0; at < begin.size(); ++at) {
    if (at == parts_.size()) return false;
    if (parts_[at].kind == Kind::Star) return true;
    if (!takes(parts_[at], begin[at])) return false;
  }
  return true;
}

bool Glob::matches_everything() const {
  return parts_.size() == 1 && parts_.front().kind == Kind::Star;
}

std::string Glob::text_of(const Set& set) {
  constexpr std::string_view kSpecials = "\\]-!^\"";
  const bool is_negated = set[kFirstNoAscii];
  const Set shown = is_negated ? ~set : set;
  std::string text = is_negated ? "[!" : "[";
  for (std::size_t first = 0; first < kFirstNoAscii; ++first) {
    if (!shown[first]) continue;
    std::size_t last = first;
    while (last + 1 < kFirstNoAscii && shown[last + 1]) ++last;
    append_escaped(text, static_cast<char>(first), kSpecials);
    if (last > first + 1) text += '-';
    if (last > first) append_escaped(text, static_cast<char>(last), kSpecials);
    first = last;
  }
  return text + ']';
}

std::string Glob::text() const {
  std::string text;
  for (const Part& part : parts_) {
    switch (part.kind) {
      case Kind::Byte:
        append_escaped(text, static_cast<char>(part.value), "*?[\\\"");
        break;
      case Kind::Any:
        text += '?';
        break;
      case Kind::Star:
        text += '*';
        break;
      case Kind::Set:
        text += text_of(sets_[part.value]);
        break;
    }
  }
  return text;
}

}  // namespace pcp::trace
