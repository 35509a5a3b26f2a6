// SPDX-License-Identifier: LGPL-2.1-or-later
// A span or an event in the store. It has its own texts, fit to be shown, because its session may
// be gone when a monitor asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "wire/events.hpp"

namespace pcp::trace::agent {

using wire::CaptureBits;

// The process of a span, as shown text.
struct SpanSource {
  std::uint32_t pid = 0;
  std::string service;
  std::string process;
  std::string host;  // the address; empty: this host

  std::size_t bytes() const { return service.size() + process.size() + host.size(); }
};

struct StoredSpan {
  wire::SpanKind kind{};
  bool aborted = false;
  CaptureBits capture_bits = 0;
  std::uint32_t flags = 0;  // as on the wire
  std::uint32_t tid = 0;
  std::uint32_t left_out = 0;  // number of attributes and links
  std::uint64_t begin_ns = 0;  // since 1970
  std::uint64_t duration_ns = 0;
  std::uint64_t trace_high = 0;
  std::uint64_t trace_low = 0;
  std::uint64_t span = 0;    // of an event: its span; 0: none
  std::uint64_t parent = 0;  // 0: none
  double value = 0;
  std::shared_ptr<const SpanSource> source;
  std::shared_ptr<const std::string> tag;
  std::string attributes;  // in the form of span_text.hpp
  std::string links;
  std::string reason;
};

using SpanPtr = std::shared_ptr<const StoredSpan>;

}  // namespace pcp::trace::agent
