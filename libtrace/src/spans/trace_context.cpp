// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/trace_context.hpp"

#include "platform/texts.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

// Parses a header from the front.
class TraceparentReader {
 public:
  explicit TraceparentReader(std::string_view text) : rest_(text) {}

  // So many hexadecimal digits; capitals are invalid.
  std::uint64_t number(std::size_t digits) {
    std::uint64_t number = 0;
    for (const char c : take(digits)) {
      const std::size_t digit = kDigits.find(c);
      if (digit == std::string_view::npos) is_valid_ = false;
      number = number << 4 | (digit & 15);
    }
    return number;
  }

  void dash() {
    if (take(1) != "-") is_valid_ = false;
  }

  bool is_valid() const { return is_valid_; }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view take(std::size_t count) {
    if (rest_.size() < count) is_valid_ = false;
    const std::string_view part = rest_.substr(0, count);
    rest_.remove_prefix(part.size());
    return part;
  }

  std::string_view rest_;
  bool is_valid_ = true;
};

void put_number(char*& to, std::uint64_t number, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) *to++ = kDigits[number >> shift & 15];
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view header) {
  TraceparentReader reader(trimmed(header));
  TraceContext context;
  const std::uint64_t version = reader.number(2);
  reader.dash();
  context.trace_high = reader.number(16);
  context.trace_low = reader.number(16);
  reader.dash();
  context.parent = reader.number(16);
  reader.dash();
  context.set_flags((reader.number(2) & kKnownFlags) | kCameInFlag);
  // A later version may have more fields.
  if (version != 0 && !reader.is_at_end()) reader.dash();
  if (!reader.is_valid() || version == 0xff || (version == 0 && !reader.is_at_end())) return {};
  if (!context.is_trace() || context.parent == 0) return {};
  return context;
}

std::array<char, kTraceparentBytes> write_traceparent(const TraceContext& context) {
  std::array<char, kTraceparentBytes> text{};
  char* to = text.data();
  put_number(to, 0, 2);
  *to++ = '-';
  put_number(to, context.trace_high, 16);
  put_number(to, context.trace_low, 16);
  *to++ = '-';
  put_number(to, context.outgoing(), 16);
  *to++ = '-';
  put_number(to, context.flags() & kKnownFlags, 2);
  return text;
}

}  // namespace pcp::trace::client
