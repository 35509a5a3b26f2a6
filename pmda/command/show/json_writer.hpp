// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes a JSON document piece by piece. Unknown values are null.
#pragma once

#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace pcp::trace::command {

class JsonWriter {
 public:
  // write() writes the members.
  template <typename Write>
  void object(Write write) {
    bracket('{', '}', write);
  }
  template <typename Write>
  void array(Write write) {
    bracket('[', ']', write);
  }

  // The key of the next value.
  void key(std::string_view name) {
    text(name);
    text_ += ':';
    is_first_ = true;
  }

  // Invalid UTF-8 is escaped, so that the document is valid.
  void text(std::string_view value);
  // The same with JSON's own escapes: a newline stays a newline.
  void exact_text(std::string_view value);
  void exact_key(std::string_view name) {
    exact_text(name);
    text_ += ':';
    is_first_ = true;
  }
  void number(double value);  // infinity and NaN count as unknown
  void number(const std::optional<double>& value) { value ? number(*value) : null(); }
  void truth(std::same_as<bool> auto value) { literal(value ? "true" : "false"); }
  void null() { literal("null"); }

  // With a key.
  template <typename Write>
  void object(std::string_view name, Write write) {
    key(name);
    object(write);
  }
  template <typename Write>
  void array(std::string_view name, Write write) {
    key(name);
    array(write);
  }
  // An array: write(item) writes one of the items.
  template <typename Items, typename Write>
  void list(std::string_view name, const Items& items, Write write) {
    array(name, [&] {
      for (const auto& each : items) write(each);
    });
  }
  void truth(std::string_view name, bool value) {
    key(name);
    truth(value);
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  void number(std::string_view name, Number value) {
    key(name);
    number(static_cast<double>(value));
  }
  void number(std::string_view name, const std::optional<double>& value) {
    key(name);
    number(value);
  }

  const std::string& document() const { return text_; }

 private:
  template <typename Write>
  void bracket(char open, char close, Write write) {
    separate();
    text_ += open;
    is_first_ = true;
    write();
    text_ += close;
    is_first_ = false;
  }
  void literal(std::string_view value) {
    separate();
    text_ += value;
  }
  void separate() {
    if (!is_first_) text_ += ',';
    is_first_ = false;
  }

  std::string text_;
  bool is_first_ = true;  // no comma is needed
};

// In UTC, with nanoseconds: "2026-11-22T16:33:08.000000000Z".
std::string rfc3339(std::chrono::sys_time<std::chrono::nanoseconds> moment);

}  // namespace pcp::trace::command
