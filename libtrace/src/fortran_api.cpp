// The calls by name as gfortran makes them: trailing underscore, everything by reference, and the
// lengths of the strings by value after all other arguments. Trailing blanks do not belong to a
// tag, and results are padded with blanks.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "api.hpp"
#include "wire/trace_type.hpp"

namespace {

// A tag as C wants it. One that is too long stays too long.
class CString {
 public:
  CString(const char* text, size_t length) {
    std::string_view tag(text, length);
    tag = tag.substr(0, tag.find_last_not_of(' ') + 1);
    const size_t copied = tag.copy(buffer_.data(), buffer_.size() - 1);
    buffer_[copied] = '\0';
  }
  const char* get() const { return buffer_.data(); }

 private:
  std::array<char, pcp::trace::kMaxTagLength + 2> buffer_;
};

}  // namespace

extern "C" {

PMTRACE_EXPORT int pmtracebegin_(const char* tag, size_t length) {
  return pmtracebegin(CString(tag, length).get());
}

PMTRACE_EXPORT int pmtraceend_(const char* tag, size_t length) {
  return pmtraceend(CString(tag, length).get());
}

PMTRACE_EXPORT int pmtraceabort_(const char* tag, size_t length) {
  return pmtraceabort(CString(tag, length).get());
}

PMTRACE_EXPORT int pmtracepoint_(const char* tag, size_t length) {
  return pmtracepoint(CString(tag, length).get());
}

PMTRACE_EXPORT int pmtraceobs_(const char* tag, const double* value, size_t length) {
  return pmtraceobs(CString(tag, length).get(), *value);
}

PMTRACE_EXPORT int pmtracecounter_(const char* tag, const double* value, size_t length) {
  return pmtracecounter(CString(tag, length).get(), *value);
}

PMTRACE_EXPORT void pmtraceerrstr_(const int* code, char* text, size_t length) {
  const std::string_view message = pmtraceerrstr(*code);
  const size_t copied = message.copy(text, length);
  std::fill(text + copied, text + length, ' ');
}

PMTRACE_EXPORT int pmtracestate_(const int* flags) { return pmtracestate(*flags); }

}  // extern "C"
