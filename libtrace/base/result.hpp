// SPDX-License-Identifier: LGPL-2.1-or-later
// The project's error type: a value, or a one-line reason. Functions that may find nothing, and
// codecs, give a std::optional.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace pcp::trace {

struct Error {
  std::string message;
};

template <typename Value>
class [[nodiscard]] Result {
 public:
  Result(Value value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return content_.index() == 0; }

  // Requires: there is a value.
  Value& operator*() & { return *std::get_if<0>(&content_); }
  Value&& operator*() && { return std::move(*std::get_if<0>(&content_)); }
  const Value& operator*() const& { return *std::get_if<0>(&content_); }
  Value* operator->() { return std::get_if<0>(&content_); }
  const Value* operator->() const { return std::get_if<0>(&content_); }

  // Requires: there is an error.
  const Error& error() const { return *std::get_if<1>(&content_); }

 private:
  std::variant<Value, Error> content_;
};

// For success without a value: `return {};`.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_; }

  // Requires: there is an error.
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace pcp::trace
