// SPDX-License-Identifier: LGPL-2.1-or-later
// The calls by name for gfortran: trailing underscore, all by reference, and string lengths by
// value after all other arguments. Trailing blanks are not part of a tag, and results are padded
// with blanks.
#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "api/api.hpp"
#include "wire/trace_type.hpp"

namespace {

using namespace pcp::trace;

// A text one byte too long for a tag.
constexpr auto kTooLong = [] {
  std::array<char, kMaxTagLength + 2> text{};
  std::fill(text.begin(), text.end() - 1, 'x');
  return text;
}();

// Cuts at a NUL, and removes trailing blanks.
std::string_view trim(const char* text, size_t length) {
  std::string_view trimmed(text, length);
  trimmed = trimmed.substr(0, trimmed.find('\0'));
  return trimmed.substr(0, trimmed.find_last_not_of(' ') + 1);
}

// A C string; null if empty. Room for more than the longest description: the library cuts and
// checks it.
class FortranText {
 public:
  FortranText(const char* text, size_t length) {
    room_[trim(text, length).copy(room_.data(), room_.size() - 1)] = '\0';
  }
  const char* text() const { return room_[0] != '\0' ? room_.data() : nullptr; }

 private:
  std::array<char, 2 * kMaxTagLength> room_;
};

// Calls with the registry's copy of the tag. That has a NUL and a constant address, which the
// thread's tag cache needs; copies on the stack would share one address.
template <typename Call, typename... Values>
int call_with_tag(const char* text, size_t length, Call call, Values... values) {
  const std::string_view name = trim(text, length);
  if (name.empty()) return call("", values...);
  if (name.size() > kMaxTagLength) return call(kTooLong.data(), values...);
  const client::Tag* tag = client::find_tag(name);
  return tag != nullptr ? call(tag->text(), values...) : -ENOMEM;
}

}  // namespace

extern "C" {

PMTRACE_EXPORT int pmtracebegin_(const char* tag, size_t length) {
  return call_with_tag(tag, length, pmtracebegin);
}

PMTRACE_EXPORT int pmtraceend_(const char* tag, size_t length) {
  return call_with_tag(tag, length, pmtraceend);
}

PMTRACE_EXPORT int pmtraceabort_(const char* tag, size_t length) {
  return call_with_tag(tag, length, pmtraceabort);
}

PMTRACE_EXPORT int pmtracepoint_(const char* tag, size_t length) {
  return call_with_tag(tag, length, pmtracepoint);
}

PMTRACE_EXPORT int pmtraceobs_(const char* tag, const double* value, size_t length) {
  return call_with_tag(tag, length, pmtraceobs, *value);
}

PMTRACE_EXPORT int pmtracecounter_(const char* tag, const double* value, size_t length) {
  return call_with_tag(tag, length, pmtracecounter, *value);
}

// The Programmer's Guide's name, a macro in C.
PMTRACE_EXPORT int pmtracecount_(const char* tag, const double* value, size_t length) {
  return pmtracecounter_(tag, value, length);
}

PMTRACE_EXPORT int pmtraceadd_(const char* tag, const double* increment, size_t length) {
  return call_with_tag(tag, length, pmtraceadd, *increment);
}

PMTRACE_EXPORT int pmtracedescribe_(const char* tag, const char* unit, const char* text,
                                    size_t tag_length, size_t unit_length, size_t text_length) {
  return call_with_tag(tag, tag_length, [&](const char* name) {
    return pmtrace_describe(pmtrace_tag(name), FortranText(unit, unit_length).text(),
                            FortranText(text, text_length).text());
  });
}

PMTRACE_EXPORT int pmtracemmv_(const char* name, size_t length) {
  return pmtrace_mmv(FortranText(name, length).text());
}

PMTRACE_EXPORT void pmtraceerrstr_(const int* code, char* text, size_t length) {
  const std::string_view message = pmtraceerrstr(*code);
  const size_t copied = message.copy(text, length);
  std::fill(text + copied, text + length, ' ');
}

PMTRACE_EXPORT int pmtracestate_(const int* flags) { return pmtracestate(*flags); }

}  // extern "C"
