// SPDX-License-Identifier: LGPL-2.1-or-later
// A span or an event from an agent, parsed from PCP's event arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/spans/span_text.hpp"
#include "command/pcp/recorded_metrics.hpp"
#include "metrics/pmapi.hpp"
#include "metrics/span_items.hpp"
#include "wire/events.hpp"

namespace pcp::trace::command {

struct SpanEvent {
  wire::SpanKind kind = wire::SpanKind::Internal;
  bool aborted = false;
  wire::TraceId trace;
  std::uint64_t span = 0;    // of an event: its span; 0: none
  std::uint64_t parent = 0;  // 0: none
  std::uint64_t begin_ns = 0;
  std::uint64_t duration_ns = 0;
  double value = 0;  // of observations and counters
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t flags = 0;
  std::uint32_t left_out = 0;  // number of attributes and links
  std::string tag;
  std::string service;
  std::string process;  // empty: same as the service
  std::string host;
  std::string reason;
  std::string attributes;  // as escaped by the agent
  std::string links;

  std::uint64_t end_ns() const { return begin_ns + duration_ns; }
  bool is_event() const { return wire::is_event(kind); }

  // It was open when its process died: duration_ns is how long it had been open.
  bool was_open() const { return !is_event() && (flags & wire::kWasOpen) != 0; }

  // True if it ended so; false if it was open.
  bool ended(Ending ending) const { return !was_open() && aborted == (ending == Ending::Failed); }

  // The reasons that it has: wire::kIfFailed, kIfWanted, kIfDied.
  std::uint32_t reasons() const {
    return (aborted ? wire::kIfFailed : 0) |
           ((flags & wire::kIsWanted) != 0 ? wire::kIfWanted : 0) |
           (was_open() ? wire::kIfDied : 0);
  }
};

// In formats of others, instead of an end.
inline constexpr const char* kWasOpenText = "its process died while it was open";

// Approximate memory use.
std::size_t bytes_of(const SpanEvent& span);

struct SpanNews {
  std::vector<SpanEvent> spans;  // including events
  std::uint64_t missed = 0;
};

// Parses an array of event records. Unknown parameters are skipped. Nothing if the array is
// invalid.
std::optional<SpanNews> read_events(const pmValueBlock& block);

// Ids as text.
inline std::string text_of(std::uint64_t id) { return agent::hex_of(id).data(); }
inline std::string text_of(const wire::TraceId& id) {
  return agent::hex_of(id.high, id.low).data();
}

using agent::name_of;

// Parses the texts of collector/spans/span_text.hpp.
struct ShownAttribute {
  std::string key;
  std::string text;
  std::optional<double> number;  // if set, this is the value
};

std::vector<ShownAttribute> attributes_of(std::string_view text);

// Formatted for people: sql="a\nb" status="200" rows=28.5. Text with blanks, or like a number, is
// quoted; a backslash always begins an escape.
std::string shown_attributes(std::string_view text);

// The words of a text, for example of links.
std::vector<std::string> words_of(std::string_view text);

}  // namespace pcp::trace::command
