// SPDX-License-Identifier: LGPL-2.1-or-later
// Captures on the wire: CONTROL, by which an agent asks for spans and events, and EVENTS, which
// bring them. trace.proto is the reference for the payloads, batch.hpp says what holds for all
// encoders and decoders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/frame.hpp"

namespace pcp::trace::wire {

// Captures that a process may know at a time: one for each bit of Span::places.
inline constexpr std::size_t kMaxCaptures = 32;
inline constexpr std::size_t kMaxFilterLength = 1024;

// What somebody has asked to see.
struct Capture {
  std::uint64_t id = 0;     // given once in the life of the agent, never 0
  std::uint32_t place = 0;  // its bit in Span::places
  std::string filter{};     // canonical text, see capture_filter.hpp
  bool operator==(const Capture&) const = default;
};

inline constexpr std::uint32_t kAnyRate = std::numeric_limits<std::uint32_t>::max();

// All that a process is to capture, until the next one says otherwise.
struct Control {
  std::uint64_t number = 0;  // grows with each change in the life of the agent, never 0
  std::vector<Capture> captures{};
  std::uint32_t most_a_second = kAnyRate;  // spans that this process may send; never 0
  bool operator==(const Control&) const = default;
};

// The first three are spans, which are transactions; the others are events, which happened at one
// moment. An abort is a span that is `aborted`.
enum class SpanKind : std::uint8_t {
  Internal = 0,
  Server = 1,  // continues a trace of another process
  Client = 2,  // has given its trace to another process
  Point = 3,
  Observe = 4,
  Counter = 5,  // what the counter has grown to
  Add = 6,      // an increment of a counter
};

constexpr bool is_span_kind(std::uint64_t number) { return number <= 6; }
constexpr bool is_event(SpanKind kind) { return kind >= SpanKind::Point; }

struct TraceId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool is_set() const { return (high | low) != 0; }
  bool operator==(const TraceId&) const = default;
};

struct SpanAttribute {
  std::string_view key;
  std::string_view text{};
  std::optional<double> number{};  // if it is there, the text means nothing
  bool operator==(const SpanAttribute&) const = default;
};

// A trace that has to do with this one.
struct SpanLink {
  TraceId trace{};
  std::uint64_t span = 0;
  bool operator==(const SpanLink&) const = default;
};

// Of Span::flags: the low 8 bits are W3C's.
inline constexpr std::uint32_t kParentIsElsewhere = 0x100;  // known to be in another process

// A transaction that was captured, or an event.
struct Span {
  std::uint32_t tag_id = 0;
  SpanKind kind = SpanKind::Internal;
  std::uint64_t begin_ns = 0;  // by the wall clock, since the epoch
  std::uint64_t duration_ns = 0;
  TraceId trace{};           // of an event: not set if it happened in no span
  std::uint64_t span = 0;    // its own id; of an event that of the span in which it happened, or 0
  std::uint64_t parent = 0;  // 0: none
  std::uint32_t flags = 0;
  std::uint32_t tid = 0;
  std::uint32_t places = 0;  // of the captures that it matched, a bit each; never 0
  bool aborted = false;
  std::string_view reason{};  // why it was aborted
  std::span<const SpanAttribute> attributes{};
  std::span<const SpanLink> links{};
  std::uint32_t left_out = 0;  // attributes and links for which there was no room
  double value = 0;            // of Observe, Counter and Add
};

inline constexpr std::size_t kMaxAttributes = 32;  // of a span
inline constexpr std::size_t kMaxLinks = 32;
inline constexpr std::size_t kMaxAttributeKeyLength = 128;    // at least 1
inline constexpr std::size_t kMaxAttributeTextLength = 4096;  // of a value, and of a reason

// begin_ns + duration_ns at most: what a signed number of nanoseconds can say.
inline constexpr std::uint64_t kLatestEndNs = std::numeric_limits<std::int64_t>::max();

// What became of the spans and events of one capture since this process learnt of it. Nothing is
// taken back: each number only grows.
struct CaptureCount {
  std::uint64_t capture = 0;         // its id
  std::uint64_t captured = 0;        // matched and ended; those below are a part of these
  std::uint64_t missed_full = 0;     // no room in the process
  std::uint64_t missed_limit = 0;    // over a limit a second
  std::uint64_t missed_waiting = 0;  // slower=: not decided in time
  std::uint64_t missed_away = 0;     // no agent, or one that forgot whether it took them
  bool operator==(const CaptureCount&) const = default;
};

inline constexpr std::uint64_t kMaxCaptureCount = std::uint64_t{1} << 60;  // each of its numbers

// The largest EVENTS, header included, so that it can be sent again to any agent.
inline constexpr std::size_t kMaxEventsPduBytes = kLeastMaxPduBytes;
// What append_span appends at most, what a CaptureCount takes at most, and what else append_events
// adds at most: body + 72 * counts + 48 must not exceed kMaxEventsPduBytes.
inline constexpr std::size_t kMaxSpanBytes = 32 * 1024;
inline constexpr std::size_t kMaxCaptureCountBytes = 72;
inline constexpr std::size_t kEventsOverheadBytes = 48;

// A received EVENTS. The spans' texts point into its payload, their attributes and links into this:
// so it can be moved, but not copied.
struct Events {
  std::uint64_t sequence = 0;
  std::uint64_t control = 0;  // number of the Control by which all of these were captured
  std::vector<Span> spans;
  std::vector<CaptureCount> counts;
  std::vector<SpanAttribute> attributes;  // of all spans, one after the other
  std::vector<SpanLink> links;

  Events() = default;
  Events(Events&&) = default;
  Events& operator=(Events&&) = default;
};

// Appends one span to the body of an EVENTS. What a span has too much of, or too large, is left out
// and counted in left_out: attributes (a text that is too long goes with its key) and links. A
// reason is cut.
void append_span(std::string& body, const Span& span);

// Bodies are kept until they are acknowledged, and sent again unchanged, with the same sequence,
// control and counts.
void append_events(std::string& out, std::uint32_t pid, std::uint64_t sequence,
                   std::uint64_t control, std::span<const CaptureCount> counts,
                   std::string_view body);
void append_events_ack(std::string& out, std::uint32_t pid, std::uint64_t sequence);
void append_control(std::string& out, std::uint32_t pid, const Control& control);

// Fills what the caller keeps, so that decoding allocates nothing in the long run. False if it
// breaks a limit above; what has been filled by then is no use.
bool decode_events(std::string_view payload, Events& events);

std::optional<std::uint64_t> decode_events_ack(std::string_view payload);

// No two captures have the same id or place. Whether a filter can be read is not looked at.
std::optional<Control> decode_control(std::string_view payload);

}  // namespace pcp::trace::wire
