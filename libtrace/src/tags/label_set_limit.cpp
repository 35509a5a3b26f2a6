// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tags/label_set_limit.hpp"

#include <stdlib.h>

#include <atomic>
#include <charconv>

namespace pcp::trace::client {
namespace {

constexpr std::uint32_t kDefault = 1000;
constexpr std::uint32_t kUnread = ~std::uint32_t{0};

// Orders nothing else: every thread that finds it unread reads the same value.
std::atomic<std::uint32_t> limit{kUnread};

}  // namespace

std::optional<std::uint32_t> parse_label_set_limit(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > kMaxLabelSetLimit)
    return {};
  return number;
}

std::uint32_t label_set_limit() {
  std::uint32_t known = limit.load(std::memory_order_relaxed);
  if (known != kUnread) return known;
  const char* text = ::secure_getenv("PCP_TRACE_MAX_LABEL_SETS");
  known = parse_label_set_limit(text != nullptr ? text : "").value_or(kDefault);
  limit.store(known, std::memory_order_relaxed);
  return known;
}

}  // namespace pcp::trace::client
