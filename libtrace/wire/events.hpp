// SPDX-License-Identifier: LGPL-2.1-or-later
// Captures on the wire: with CONTROL the agent asks for spans and events, EVENTS carries them, and
// WANTED tells a process which traces other processes want whole.
// trace.proto is the reference for the payloads; batch.hpp has the rules for all encoders and
// decoders.
#pragma once

#include <bit>
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

inline constexpr std::size_t kMaxCaptures = 32;  // of a process at a time: one per bit
using CaptureBits = std::uint32_t;

template <typename Visit>
void for_each_bit(CaptureBits bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(std::countr_zero(bits)));
}

inline constexpr std::size_t kMaxFilterLength = 1024;

// Reasons for which a capture wants a transaction, beside slower= of its filter.
inline constexpr std::uint32_t kIfFailed = 1;  // it, or a transaction inside it, failed
inline constexpr std::uint32_t kIfWanted = 2;  // its program wants it, or one inside it
inline constexpr std::uint32_t kIfDied = 4;    // its process died while it was open
inline constexpr std::uint32_t kAllReasons = kIfFailed | kIfWanted | kIfDied;
inline constexpr std::uint32_t kNotedReasons = kIfFailed | kIfWanted;  // that a process can know

// A request to see matching transactions and events.
struct Capture {
  std::uint64_t id = 0;   // unique in the life of the agent, never 0
  std::uint32_t bit = 0;  // its number among CaptureBits, 0 to 31
  std::string filter{};   // canonical text without the reasons, see capture_filter.hpp
  std::uint32_t reasons = 0;
  bool operator==(const Capture&) const = default;
};

inline constexpr std::uint32_t kAnyRate = std::numeric_limits<std::uint32_t>::max();

// All captures of a process, until the next Control.
struct Control {
  std::uint64_t number = 0;  // grows with each change in the life of the agent, never 0
  std::vector<Capture> captures{};
  std::uint32_t most_a_second = kAnyRate;  // spans that this process may send; never 0
  bool operator==(const Control&) const = default;
};

// The first three are spans (transactions); the others are events, at one moment. An aborted
// transaction is a span with `aborted`.
enum class SpanKind : std::uint8_t {
  Internal = 0,
  Server = 1,  // continues a trace of another process
  Client = 2,  // has given its trace to another process
  Point = 3,
  Observe = 4,
  Counter = 5,  // the counter's value
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

// The low 56 bits of a trace's id decide whether the trace is in a share: they reach a threshold.
// So in every process a greater share includes a smaller one.
inline constexpr std::uint64_t kAllIds = std::uint64_t{1} << 56;

constexpr bool reaches_threshold(std::uint64_t trace_low, std::uint64_t threshold) {
  return (trace_low & (kAllIds - 1)) >= threshold;
}

struct SpanAttribute {
  std::string_view key;
  std::string_view text{};
  std::optional<double> number{};  // if set, the text is ignored
  bool operator==(const SpanAttribute&) const = default;
};

// A related trace.
struct SpanLink {
  TraceId trace{};
  std::uint64_t span = 0;
  bool operator==(const SpanLink&) const = default;
};

// Bits of Span::flags; the low 8 bits are W3C's.
inline constexpr std::uint32_t kParentIsElsewhere = 0x100;  // known to be in another process
inline constexpr std::uint32_t kIsHeld = 0x200;  // nobody wants its trace yet, and its process ends
inline constexpr std::uint32_t kIsWanted = 0x400;  // its program wants it
inline constexpr std::uint32_t kWasOpen = 0x800;   // when its process died; from the agent alone

// A captured transaction or event.
struct Span {
  std::uint32_t tag_id = 0;
  SpanKind kind = SpanKind::Internal;
  std::uint64_t begin_ns = 0;  // by the wall clock, since the epoch
  std::uint64_t duration_ns = 0;
  TraceId trace{};           // of an event: not set outside of spans
  std::uint64_t span = 0;    // its own id; of an event: its span's id, or 0
  std::uint64_t parent = 0;  // 0: none
  std::uint32_t flags = 0;
  std::uint32_t tid = 0;
  CaptureBits capture_bits = 0;  // of each capture that it matched; never 0
  bool aborted = false;
  std::string_view reason{};  // why it was aborted
  std::span<const SpanAttribute> attributes{};
  std::span<const SpanLink> links{};
  std::uint32_t left_out = 0;  // attributes and links dropped for lack of room
  double value = 0;            // of Observe, Counter and Add
};

inline constexpr std::size_t kMaxAttributes = 32;  // of a span
inline constexpr std::size_t kMaxLinks = 32;
inline constexpr std::size_t kMaxAttributeKeyLength = 128;    // at least 1
inline constexpr std::size_t kMaxAttributeTextLength = 4096;  // of a value, and of a reason

// The limit of begin_ns + duration_ns: nanoseconds in a signed number.
inline constexpr std::uint64_t kLatestEndNs = std::numeric_limits<std::int64_t>::max();

// The counts of one capture in a process, since the capture began there. Each count only grows.
struct CaptureCount {
  std::uint64_t capture = 0;         // its id
  std::uint64_t captured = 0;        // matched and ended, including those below
  std::uint64_t missed_full = 0;     // no room in the process
  std::uint64_t missed_limit = 0;    // over a limit per second
  std::uint64_t missed_waiting = 0;  // slower=: not decided in time
  std::uint64_t missed_away = 0;     // no agent, or one that forgot whether it took them
  std::uint64_t threshold = 0;       // that traces reach which limit= takes now; 0: all
  bool operator==(const CaptureCount&) const = default;
};

// A trace that is wanted whole: captures with slower= want all that any process has of it. The
// trace is known by a one-way hash of its id, so a process learns nothing of traces that it does
// not have.
struct WantedTrace {
  std::uint64_t hash = 0;
  CaptureBits capture_bits = 0;  // never 0
  bool operator==(const WantedTrace&) const = default;
};

std::uint64_t hash_of_trace(std::uint64_t trace_low);

inline constexpr std::size_t kMaxWanted = 1'024;  // in EVENTS, or in WANTED
inline constexpr std::size_t kMaxWantedTraceBytes = 17;

inline constexpr std::uint64_t kMaxCaptureCount = std::uint64_t{1} << 60;  // each of its counts

// The largest EVENTS with its header: any agent takes this size.
inline constexpr std::size_t kMaxEventsPduBytes = kLeastMaxPduBytes;
// Most bytes of append_span, of a CaptureCount, and of the rest of append_events: body + 80 *
// counts + 17 * wanted + 48 must not exceed kMaxEventsPduBytes.
inline constexpr std::size_t kMaxSpanBytes = 32 * 1024;
inline constexpr std::size_t kMaxCaptureCountBytes = 80;
inline constexpr std::size_t kEventsOverheadBytes = 48;

// A received EVENTS. Texts of spans point into its payload, attributes and links into this object:
// it can be moved, but not copied.
struct Events {
  std::uint64_t sequence = 0;
  std::uint64_t control = 0;  // number of the Control of all these spans
  std::vector<Span> spans;
  std::vector<CaptureCount> counts;
  std::vector<WantedTrace> wanted;
  std::vector<SpanAttribute> attributes;  // of all spans in order
  std::vector<SpanLink> links;

  Events() = default;
  Events(Events&&) = default;
  Events& operator=(Events&&) = default;
};

// Appends a span to an EVENTS body. Drops attributes (an overlong text with its key) and links
// beyond the limits, and counts them in left_out. Cuts the reason.
// `others`: further fields of the span, by append_span_fields(); together kMaxSpanBytes.
void append_span(std::string& body, const Span& span, std::string_view others = {});

// Appends the fields alone.
void append_span_fields(std::string& fields, const Span& span);

// Decodes the fields of one span, which is then the only one of `events`. False if it is not valid.
bool decode_span_fields(std::string_view fields, Events& events);

// True if EVENTS may have it, as far as its numbers tell.
bool is_valid(const Span& span);

// Bodies are kept until acknowledged, and resent unchanged, with the same sequence, control and
// counts.
void append_events(std::string& out, std::uint32_t pid, std::uint64_t sequence,
                   std::uint64_t control, std::span<const CaptureCount> counts,
                   std::span<const WantedTrace> wanted, std::string_view body);
void append_events_ack(std::string& out, std::uint32_t pid, std::uint64_t sequence);
void append_control(std::string& out, std::uint32_t pid, const Control& control);
void append_wanted(std::string& out, std::uint32_t pid, std::span<const WantedTrace> wanted);

// Reuses the caller's memory. False if a limit above is exceeded; then the output is unusable.
bool decode_events(std::string_view payload, Events& events);

std::optional<std::uint64_t> decode_events_ack(std::string_view payload);

// Checks that ids and bits are unique, but not that filters can be parsed.
std::optional<Control> decode_control(std::string_view payload);

std::optional<std::vector<WantedTrace>> decode_wanted(std::string_view payload);

}  // namespace pcp::trace::wire
