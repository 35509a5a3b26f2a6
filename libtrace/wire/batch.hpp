// SPDX-License-Identifier: LGPL-2.1-or-later
// Version 2 of the protocol: protobuf messages in PCP trace frames. trace.proto is the reference
// for the payloads; this file gives each message its C++ shape. Encoders append a whole PDU.
// Decoders give nothing if the payload is not that message; unknown fields are skipped.
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

// Who a process is.
struct Hello {
  SessionId session{};
  std::uint32_t pid = 0;
  std::string process;  // name of the program
  std::string service;  // PCP_TRACE_SERVICE, else the program's name
  std::vector<std::pair<std::string, std::string>> labels;  // PCP_TRACE_LABELS
  std::uint64_t start_time_ns = 0;                          // of the process, since the epoch
};

// What an agent understands beyond the first version 2, by number. Numbers for which there is no
// room here belong to a time to come: they are ignored.
using FeatureSet = std::bitset<64>;

enum class Feature : std::size_t {
  InFlight = 1,  // what batches say of transactions in flight
  Events = 2,    // EVENTS; sends CONTROL
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
  std::string_view unit{};         // what it is measured in
  std::string_view description{};  // what it stands for
};

// Of what is said of a tag; the rest is cut off.
inline constexpr std::size_t kMaxUnitLength = 32;
inline constexpr std::size_t kMaxDescriptionLength = 254;

// The library's own counters, all since the start of the process.
struct ClientCounters {
  std::uint64_t recorded = 0;  // calls
  std::uint64_t sent = 0;      // calls in batches that were sent
  std::uint64_t merged = 0;    // calls that found their thread's queue full and went into its cells
  std::uint64_t thinned = 0;   // of merged: values that no histogram has seen
  std::uint64_t uncertain = 0;  // calls sent to an agent that forgot whether it applied them
  std::uint64_t reconnects = 0;
};

// How long ago the first and the last record of a batch happened, as of its sending.
struct BatchAge {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
};

// The calls, and the aborts, of one delta at most. A thousand processors that do nothing but trace
// one tag need four months without an agent for that many.
inline constexpr std::uint64_t kMaxDeltaCalls = std::uint64_t{1} << 60;

// One tag's share of a received batch. `histogram` points into the payload.
struct DeltaEntry {
  std::uint32_t tag_id = 0;
  TraceType type{};
  bool is_added = false;  // of a counter: `delta` is of increments, and sum what they add up to
  Delta delta;
  std::string_view histogram;  // packed
};

// The transactions of one tag that a process has begun and not ended, as a batch was sent.
struct OpenCount {
  std::uint32_t tag_id = 0;
  std::uint64_t open = 0;       // 0: none any more
  std::uint64_t oldest_ns = 0;  // since the oldest of them began
  std::uint32_t tid = 0;        // the thread that began it; 0: it has ended, or is not known
  bool operator==(const OpenCount&) const = default;
};

// Of one OpenCount at most.
inline constexpr std::uint64_t kMaxOpen = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kMaxOpenAgeNs = std::uint64_t{1} << 62;

struct Batch {
  std::uint64_t sequence = 0;
  BatchAge age;
  ClientCounters counters;
  // What has changed since the connection's last batch that said something of this tag.
  std::vector<OpenCount> in_flight;
  bool in_flight_anew = false;  // first forget all that was said, on earlier connections too
  std::vector<DeltaEntry> entries;
};

enum class ByeReason : std::uint32_t {
  Done = 0,           // a process ends with nothing pending, or the agent stops
  Malformed = 1,      // the receiver broke the protocol
  TooManyTags = 2,    // or bytes of labels, or memory
  QuotaExceeded = 3,  // sessions of one user
  Timeout = 4,        // an unfinished PDU
};

void append_hello(std::string& out, std::uint32_t pid, const Hello& hello);
void append_welcome(std::string& out, std::uint32_t pid, const Welcome& welcome);
void append_tags(std::string& out, std::uint32_t pid, const std::vector<TagDefinition>& tags);
void append_batch_ack(std::string& out, std::uint32_t pid, std::uint64_t sequence);
void append_bye(std::string& out, std::uint32_t pid, ByeReason reason);

// Appends one delta to the body of a batch: of a point its count, of a counter its last value too,
// all numbers of the others but `unbinned`, which is what the histogram leaves. Bodies are kept
// until they are acknowledged, and sent again unchanged; only what append_batch puts before them is
// made afresh.
void append_delta(std::string& body, std::uint32_t tag_id, TraceType type, const Delta& delta,
                  const Histogram& histogram);
// The same for increments of a counter: how many, their sum, and in `last` the process's total.
void append_increments(std::string& body, std::uint32_t tag_id, const Delta& delta);

// Appends one to the `in_flight` of a batch's head.
void append_open_count(std::string& in_flight, const OpenCount& count);

// What is made afresh each time a batch is sent.
struct BatchHead {
  BatchAge age;
  ClientCounters counters;
  std::string_view in_flight{};  // what append_open_count has made
  bool in_flight_anew = false;
};
void append_batch(std::string& out, std::uint32_t pid, std::uint64_t sequence,
                  const BatchHead& head, std::string_view body);

// Bytes that append_batch adds around a body and what is in flight, at most.
inline constexpr std::size_t kBatchOverheadBytes = 192;

std::optional<Hello> decode_hello(std::string_view payload);
std::optional<Welcome> decode_welcome(std::string_view payload);
std::optional<std::uint64_t> decode_batch_ack(std::string_view payload);
std::optional<ByeReason> decode_bye(std::string_view payload);

// These fill what the caller keeps, so that decoding allocates nothing in the long run. Every name
// is a valid tag; every entry has a known type, a count or aborts, sane numbers and a histogram
// that merge_packed takes; no open count is beyond its limits. False if anything is not so; what
// they have filled by then is no use.
bool decode_tags(std::string_view payload, std::vector<TagDefinition>& tags);
bool decode_batch(std::string_view payload, Batch& batch);

}  // namespace pcp::trace::wire
