// SPDX-License-Identifier: LGPL-2.1-or-later
// Version 2 of the protocol: protobuf messages in PCP trace frames. trace.proto is the reference
// for the payloads; this file declares the C++ types. Encoders append a whole PDU. Decoders give
// nothing if the payload is malformed; they skip unknown fields.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/delta.hpp"
#include "wire/events.hpp"
#include "wire/histogram.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::wire {

using SessionId = std::array<std::uint8_t, 16>;

// Describes a process.
struct Hello {
  SessionId session{};
  std::uint32_t pid = 0;
  std::string process;  // name of the program
  std::string service;  // PCP_TRACE_SERVICE, else the program's name
  std::vector<std::pair<std::string, std::string>> labels;  // PCP_TRACE_LABELS
};

// The agent's features beyond the first version 2, by number. Higher numbers belong to later
// versions and are ignored.
using FeatureSet = std::bitset<64>;

enum class Feature : std::size_t {
  InFlight = 1,  // BATCH reports transactions in flight
  Events = 2,    // takes EVENTS, sends CONTROL
  Wanted = 3,    // takes wanted traces in EVENTS, tells them to other processes in WANTED
  BlackBox = 4,  // takes the descriptor of a black box (black_box.hpp), with any later bytes
};

constexpr std::size_t number_of(Feature feature) { return static_cast<std::size_t>(feature); }

struct Welcome {
  std::uint64_t agent_instance = 0;  // random, not 0, one per start of the agent
  bool session_known = false;
  std::uint64_t last_sequence = 0;  // the last batch applied for this session; 0 if none
  std::uint32_t max_pdu_bytes = 0;  // never below kLeastMaxPduBytes
  std::uint32_t max_tags = 0;       // tags that one session may define
  FeatureSet features;
  std::uint64_t last_events = 0;     // the last EVENTS taken of this session; 0 if none
  std::optional<Control> control{};  // what is captured now
};

struct TagDefinition {
  std::uint32_t id = 0;
  std::string_view name;
  std::string_view unit{};         // of the values
  std::string_view description{};  // the tag's meaning
};

// Limits of a tag's definition; the rest is cut off.
inline constexpr std::size_t kMaxUnitLength = 32;
inline constexpr std::size_t kMaxDescriptionLength = 254;

// Whether calls in a bare name are of tags with labels, for which the process had no room.
enum class Folded : std::uint32_t { NotSaid, None, Some };

// The library's own counters, all since the start of the process.
struct ClientCounters {
  std::uint64_t recorded = 0;  // calls
  std::uint64_t sent = 0;      // calls in batches that were sent
  std::uint64_t merged = 0;    // calls that found their thread's queue full and went into its cells
  std::uint64_t thinned = 0;   // of merged: values that no histogram has seen
  std::uint64_t uncertain = 0;  // calls sent to an agent that forgot whether it applied them
  std::uint64_t reconnects = 0;
  Folded folded{};
};

// Ages of a batch's first and last record, at its sending.
struct BatchAge {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
};

// Most calls, and most failures, of one delta. A thousand processors that only trace one tag reach
// it after four months without an agent.
inline constexpr std::uint64_t kMaxDeltaCalls = std::uint64_t{1} << 60;

// One tag's delta in a received batch, for transactions with those that failed. The histograms
// point into the payload.
struct DeltaEntry {
  std::uint32_t tag_id = 0;
  TraceType type{};
  bool is_added = false;  // increments of a counter; delta.sum is their sum
  Delta delta;
  std::string_view histogram;  // packed
  Delta failed;                // nonfinite: without a duration, from older libraries
  std::string_view failed_histogram;
};

// A tag's open transactions in a process, when the batch was sent.
struct OpenCount {
  std::uint32_t tag_id = 0;
  std::uint64_t open = 0;       // 0: none any more
  std::uint64_t oldest_ns = 0;  // the oldest one's age
  std::uint32_t tid = 0;        // the thread that began it; 0: ended, or unknown
  bool operator==(const OpenCount&) const = default;
};

// Limits of an OpenCount.
inline constexpr std::uint64_t kMaxOpen = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kMaxOpenAgeNs = std::uint64_t{1} << 62;

struct Batch {
  std::uint64_t sequence = 0;
  BatchAge age;
  ClientCounters counters;
  // For each tag: what changed since this connection last reported it.
  std::vector<OpenCount> in_flight;
  bool in_flight_anew = false;  // first forget all open counts, also of earlier connections
  std::vector<DeltaEntry> entries;
};

enum class ByeReason : std::uint32_t {
  Done = 0,           // a process ends with nothing pending, or the agent stops
  Malformed = 1,      // the receiver broke the protocol
  TooMuch = 2,        // tags, or bytes of labels, or memory
  QuotaExceeded = 3,  // sessions of one user
  Timeout = 4,        // an unfinished PDU
};

void append_hello(std::string& out, std::uint32_t pid, const Hello& hello);
void append_welcome(std::string& out, std::uint32_t pid, const Welcome& welcome);
void append_tags(std::string& out, std::uint32_t pid, const std::vector<TagDefinition>& tags);
void append_batch_ack(std::string& out, std::uint32_t pid, std::uint64_t sequence);
void append_bye(std::string& out, std::uint32_t pid, ByeReason reason);

// Appends one delta to a batch's body: a point's count; a counter's count and last value; all
// numbers of other types but `unbinned`, which follows from the histogram. Bodies are kept until
// acknowledged, and resent unchanged; only the head is made again.
void append_delta(std::string& body, std::uint32_t tag_id, TraceType type, const Delta& delta,
                  const Histogram& histogram);
// The same for the durations of failed transactions.
void append_failures(std::string& body, std::uint32_t tag_id, const Delta& failed,
                     const Histogram& histogram);
// The same for a counter's increments: their number, their sum, and the process's total in `last`.
void append_increments(std::string& body, std::uint32_t tag_id, const Delta& delta);

// Appends an open count to BatchHead::in_flight.
void append_open_count(std::string& in_flight, const OpenCount& count);

// The part of a batch that is made again for each sending.
struct BatchHead {
  BatchAge age;
  ClientCounters counters;
  std::string_view in_flight{};  // from append_open_count
  bool in_flight_anew = false;
};
void append_batch(std::string& out, std::uint32_t pid, std::uint64_t sequence,
                  const BatchHead& head, std::string_view body);

// Most bytes that append_batch adds to body and in_flight.
inline constexpr std::size_t kBatchOverheadBytes = 192;

// Most bytes of body and in_flight together: every agent takes them, since a batch may be sent
// again to an agent with a lower limit. Room for a thousand tags.
inline constexpr std::size_t kMaxBatchBytes = kLeastMaxPduBytes - kBatchOverheadBytes;

std::optional<Hello> decode_hello(std::string_view payload);
std::optional<Welcome> decode_welcome(std::string_view payload);
std::optional<std::uint64_t> decode_batch_ack(std::string_view payload);
std::optional<ByeReason> decode_bye(std::string_view payload);

// These reuse the caller's memory. Every name is a valid tag. Every entry has a known type, calls
// or failures, consistent numbers, and histograms that merge_packed takes. Open counts are within
// their limits. False otherwise; then the output is unusable.
bool decode_tags(std::string_view payload, std::vector<TagDefinition>& tags);
bool decode_batch(std::string_view payload, Batch& batch);

}  // namespace pcp::trace::wire
