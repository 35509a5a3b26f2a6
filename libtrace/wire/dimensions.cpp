// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/dimensions.hpp"

#include <algorithm>
#include <array>

#include "base/utf8.hpp"
#include "wire/label_name.hpp"

namespace pcp::trace {
namespace {

constexpr bool is_plain_ascii(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_./:@+-").find(c) != std::string_view::npos;
}

constexpr auto kPlainAscii = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0; c < 128; ++c) plain[c] = is_plain_ascii(static_cast<char>(c));
  return plain;
}();

// Code points above U+00C0 that are no letters, roughly: signs, punctuation, private use, pictures.
struct Range {
  char32_t first, last;
};
constexpr std::array kNoLetters{
    Range{0xd7, 0xd7},     Range{0xf7, 0xf7},       Range{0x2000, 0x2bff},
    Range{0x3000, 0x3004}, Range{0xe000, 0xf8ff},   Range{0xfe00, 0xfe0f},
    Range{0xfff0, 0xffff}, Range{0x1f000, 0x1faff}, Range{0xe0000, 0x10ffff}};

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// Bytes of the letter at the front of the text, two to four; 0: no letter. Views escape invisible
// characters, so these are no letters: views show a tag's labels as its text has them.
std::size_t letter_bytes(std::string_view text) {
  const auto [bytes, letter] = first_character(text);
  if (letter < 0xc0 || is_invisible(letter)) return 0;
  for (const auto [first, last] : kNoLetters) {
    if (letter >= first && letter <= last) return 0;
  }
  return bytes;
}

// Bytes at the front of a value that need no escape. Requires: not empty.
std::size_t plain_bytes(std::string_view text) {
  return kPlainAscii[byte_at(text, 0)] ? 1 : letter_bytes(text);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool is_escape(std::string_view text) {
  return text.size() >= 3 && text[0] == '%' && hex_digit(text[1]) >= 0 && hex_digit(text[2]) >= 0;
}

char unescaped_byte(std::string_view escape) {
  return static_cast<char>(hex_digit(escape[1]) << 4 | hex_digit(escape[2]));
}

// Plain bytes must not be escaped: a value has only one text.
bool is_needed_escape(std::string_view text) {
  std::array<char, 4> bytes;  // the longest letter
  std::size_t count = 0;
  for (; count < bytes.size() && is_escape(text); text.remove_prefix(3))
    bytes[count++] = unescaped_byte(text);
  return count > 0 && plain_bytes({bytes.data(), count}) == 0;
}

bool is_escaped_value(std::string_view text) {
  while (!text.empty()) {
    const std::size_t taken = is_needed_escape(text) ? 3 : plain_bytes(text);
    if (taken == 0) return false;
    text.remove_prefix(taken);
  }
  return true;
}

// Takes the value off the front of the room.
std::string_view unescape(std::string_view text, std::span<char>& room) {
  std::size_t length = 0;
  while (!text.empty()) {
    const bool is_hex = is_escape(text);
    room[length++] = is_hex ? unescaped_byte(text) : text[0];
    text.remove_prefix(is_hex ? 3 : 1);
  }
  const std::string_view value(room.data(), length);
  room = room.subspan(length);
  return value;
}

// Takes key=value and the semicolon off the front. Without an equals sign key and value are empty,
// which is a bad key.
DimensionView take_label(std::string_view& rest) {
  const std::string_view label = rest.substr(0, rest.find(';'));
  rest.remove_prefix(std::min(label.size() + 1, rest.size()));
  const std::size_t equals = label.find('=');
  if (equals == label.npos) return {};
  return {label.substr(0, equals), label.substr(equals + 1)};
}

// Position of the labels' {; npos if there are none.
std::size_t find_labels(std::string_view tag) {
  if (tag.empty() || tag.back() != '}') return tag.npos;
  const std::size_t brace = tag.rfind('{');
  if (brace == tag.npos || brace == 0) return tag.npos;
  std::string_view rest = tag.substr(brace + 1, tag.size() - brace - 2);
  if (rest.empty() || rest.back() == ';') return tag.npos;
  std::string_view before;
  for (std::size_t count = 0; !rest.empty(); ++count) {
    const auto [key, value] = take_label(rest);
    if (count == kMaxDimensions || key <= before || !is_dimension_key(key) ||
        !is_escaped_value(value))
      return tag.npos;
    before = key;
  }
  return brace;
}

// Gives the number of labels. `brace`: where they begin.
std::size_t read_labels(std::string_view tag, std::size_t brace, std::span<char> room,
                        std::span<DimensionView, kMaxDimensions> labels) {
  std::string_view rest = tag.substr(brace + 1, tag.size() - brace - 2);
  std::size_t count = 0;
  while (!rest.empty()) {
    const auto [key, value] = take_label(rest);
    labels[count++] = {key, unescape(value, room)};
  }
  return count;
}

// Collects text in a buffer. Drops text beyond the end, but counts it.
class Room {
 public:
  explicit Room(std::span<char> bytes) : bytes_(bytes) {}

  void add(char c) {
    if (used_ < bytes_.size()) bytes_[used_] = c;
    ++used_;
  }
  void add(std::string_view text) {
    if (used_ < bytes_.size()) text.copy(bytes_.data() + used_, bytes_.size() - used_);
    used_ += text.size();
  }
  void add_escaped(std::string_view value) {
    while (!value.empty()) {
      const std::size_t plain = plain_bytes(value);
      for (std::size_t i = 0; i < plain; ++i) add(value[i]);
      if (plain == 0) {
        constexpr char kDigits[] = "0123456789ABCDEF";
        add('%');
        add(kDigits[byte_at(value, 0) >> 4]);
        add(kDigits[byte_at(value, 0) & 15]);
      }
      value.remove_prefix(std::max<std::size_t>(plain, 1));
    }
  }
  std::size_t used() const { return used_; }
  bool is_exceeded() const { return used_ > bytes_.size(); }

 private:
  std::span<char> bytes_;
  std::size_t used_ = 0;
};

}  // namespace

bool is_dimension_key(std::string_view key) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto may_follow = [&](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !key.empty() && is_lower(key.front()) && std::all_of(key.begin(), key.end(), may_follow) &&
         (!is_reserved_label(key) || key == "service" || key == "pid");
}

const std::string* Dimensions::find(std::string_view key) const {
  const auto found = std::ranges::find(labels, key, &Dimension::key);
  return found == labels.end() ? nullptr : &found->value;
}

std::string_view read_dimensions(std::string_view tag, std::span<char> room,
                                 std::span<DimensionView, kMaxDimensions> labels,
                                 std::size_t& count) {
  const std::size_t brace = find_labels(tag);
  count = brace == tag.npos ? 0 : read_labels(tag, brace, room, labels);
  return tag.substr(0, brace);
}

std::optional<Dimensions> parse_dimensions(std::string_view tag) {
  const std::size_t brace = find_labels(tag);
  if (brace == tag.npos) return std::nullopt;
  std::array<DimensionView, kMaxDimensions> labels;
  std::string room(tag.size(), '\0');
  const std::size_t count = read_labels(tag, brace, room, labels);
  Dimensions found{tag.substr(0, brace), {}};
  for (const auto& [key, value] : std::span(labels).first(count))
    found.labels.push_back({key, std::string(value)});
  return found;
}

std::string_view bare_name(std::string_view tag) { return tag.substr(0, find_labels(tag)); }

Composed compose_dimensions(std::span<char> room, std::size_t& length, std::string_view name,
                            std::span<const DimensionView> labels) {
  std::array<const DimensionView*, kMaxDimensions> sorted;
  if (labels.size() > sorted.size()) return Composed::BadLabels;
  std::size_t count = 0;
  for (const DimensionView& label : labels) {
    if (!is_dimension_key(label.first)) return Composed::BadLabels;
    std::size_t at = count++;
    for (; at > 0 && sorted[at - 1]->first >= label.first; --at) {
      if (sorted[at - 1]->first == label.first) return Composed::BadLabels;
      sorted[at] = sorted[at - 1];
    }
    sorted[at] = &label;
  }

  Room text(room);
  text.add(name);
  char before = '{';
  for (std::size_t i = 0; i < count; ++i, before = ';') {
    text.add(before);
    text.add(sorted[i]->first);
    text.add('=');
    text.add_escaped(sorted[i]->second);
  }
  if (count != 0) text.add('}');
  length = text.used();
  return text.is_exceeded() ? Composed::TooLong : Composed::Done;
}

bool compose_dimensions(std::string& out, std::string_view name,
                        std::span<const DimensionView> labels, std::size_t most) {
  const std::size_t before = out.size();
  out.resize(before + most);
  std::size_t length = 0;
  const bool is_done =
      compose_dimensions(std::span(out).subspan(before), length, name, labels) == Composed::Done;
  out.resize(before + (is_done ? length : 0));
  return is_done;
}

bool add_dimensions(std::string& out, std::string_view tag, std::span<const DimensionView> more,
                    std::size_t most) {
  const Dimensions own = parse_dimensions(tag).value_or(Dimensions{tag, {}});
  std::vector<DimensionView> labels;
  for (const Dimension& each : own.labels) labels.emplace_back(each.key, each.value);
  for (const DimensionView& each : more)
    if (own.find(each.first) == nullptr) labels.push_back(each);
  return compose_dimensions(out, own.name, labels, most);
}

}  // namespace pcp::trace
