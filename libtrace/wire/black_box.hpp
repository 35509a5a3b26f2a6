// SPDX-License-Identifier: LGPL-2.1-or-later
// The black box: memory that a process shares with its agent while spans are captured there. It is
// a memfd of fixed size, sealed against shrinking and growing. Its descriptor goes to the agent
// over the Unix socket. When the process has died without BYE, the agent reads from it what the
// process could not say: open transactions, and ended spans that no agent has acknowledged.
//
// The file has five areas. All numbers are in this machine's byte order; both sides check `layout`.
// A tag is known by the address of its object in the process. Nothing is cleaned up: a reader finds
// what the last instruction left, so each struct says which word is written last. It may be written
// by a stranger: a reader checks every number.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "wire/events.hpp"

namespace pcp::trace::wire::box {

template <typename Number>
using Word = std::atomic<Number>;

// Changes with any struct below.
inline constexpr std::uint64_t kLayout = 0x5043'5054'426F'7802;

inline constexpr std::uint32_t kMostTags = 100'000;
inline constexpr std::uint32_t kMostTagText = 8u << 20;
inline constexpr std::uint32_t kMostNodes = 32'768;
inline constexpr std::uint32_t kSlotsInBlock = 16;
inline constexpr std::uint32_t kMostBlocks = 16'384;
inline constexpr std::uint64_t kMostRingBytes = 256u << 20;

// A set of captures: EVENTS would name this CONTROL for spans of this epoch. Several epochs may
// have the same CONTROL. 0: the agent has not asked for this set.
struct Set {
  Word<std::uint64_t> control;
  Word<std::uint32_t> epoch;
};

struct Tag {
  Word<std::uint64_t> address;  // written last; 0: not known
  Word<std::uint32_t> text_at;  // in Head's area
  Word<std::uint32_t> length;
};

// The counts of a capture, in all of the process's sets with it: as in CaptureCount, and later.
struct Missed {
  Word<std::uint64_t> capture;  // its id; written last; 0: nobody counts here
  Word<std::uint64_t> full;
  Word<std::uint64_t> limit;
  Word<std::uint64_t> waiting;
  Word<std::uint64_t> away;
};

struct Head {
  static constexpr std::size_t kSets = 256;
  static constexpr std::size_t kMissed = 64;

  std::uint64_t layout;
  std::uint64_t ring_bytes;                 // a multiple of 4096, at most kMostRingBytes
  Word<std::int64_t> wall_minus_monotonic;  // of the clocks, in ns
  Word<std::uint32_t> tag_text_bytes;       // taken; may exceed kMostTagText
  Word<std::uint32_t> is_ending;            // not 0: in order, so nothing was open at a death
  Set sets[kSets];                          // at epoch % kSets
  Missed missed[kMissed];
  Tag tags[kMostTags];  // at the tag's id
};

// An ended span that the flusher has not taken yet.
struct Node {
  std::uint64_t tag;
  std::uint64_t notes;  // not 0: it had attributes, links or a reason, which are lost
  std::uint64_t trace_high;
  std::uint64_t trace_low;
  std::uint64_t own;
  std::uint64_t parent;
  std::uint64_t packed;    // see packed below
  std::uint64_t begin_ns;  // by the monotonic clock
  std::uint64_t duration_ns;
  double value;
  std::uint32_t epoch;
  std::uint32_t tid;
  std::uint8_t kind;
  std::uint8_t aborted;
  std::uint32_t slow_for;         // captures that want its trace
  std::uint8_t process_only[41];  // for the process
  std::uint8_t is_live;           // 1: written last; 0: the rest has no meaning
  std::uint8_t padding[6];
};

// A transaction with an entry of the open table, if filters with a reason capture it.
struct alignas(64) Slot {
  std::uint64_t head;   // the reasons that it has: see below
  std::uint64_t begun;  // 2 * ns by the monotonic clock + 1
  std::uint64_t around;
  std::uint32_t selected;  // for the process
  std::uint32_t left_out;
  std::uint32_t epoch;
  std::uint64_t trace_low;
  std::uint64_t since_ns;
  std::uint64_t tag;
  std::uint64_t trace_high;
  std::uint64_t parent;
  std::uint64_t packed;
  std::uint32_t tid;
  std::uint32_t reason_for;  // captures that it may be a reason for
  std::uint64_t own;         // written last; 0: it is not open
};

// In Node::packed and Slot::packed: flags (8 bits), another number (24), capture bits (32). Flags:
// W3C's low two, and these.
inline constexpr std::uint64_t kCameIn = 128;
inline constexpr std::uint64_t kIsInsideOneThatCameIn = 32;  // and has no id
inline constexpr std::uint64_t kProgramWants = 4;
inline constexpr unsigned kCaptureBitsAt = 32;

// In Slot::head: whether it is open, and then kNotedReasons. If it is ending, the low half has the
// captures that want its trace.
constexpr bool is_open(std::uint64_t head) { return (head >> 32) % 2 == 1; }
inline constexpr unsigned kReasonsAt = 20;

// Ended spans that the flusher has taken, encoded. New ones go to the head, and the oldest leave at
// the tail. A position only grows; its byte is position % ring_bytes. At each position between
// tail and head is a Record, and behind it the span's other fields as in EVENTS. The next record
// begins at the next multiple of 8. A record does not go over the end of the ring: a Gap is there.
struct RingHead {
  Word<std::uint64_t> tail;  // position of the oldest
  Word<std::uint64_t> head;  // written behind the record
};

struct Record {
  std::uint16_t bytes = 0;          // with the fields behind it
  std::uint16_t epoch = 0;          // low half; of the set that defines the bits
  std::uint32_t tag_and_flags = 0;  // the tag's id; Node's flags in the low 8 bits
  CaptureBits undecided = 0;        // of captures that may still want it
  CaptureBits to_send = 0;          // of captures that want it
  CaptureBits in_flight = 0;        // in the EVENTS of this sequence: undecided, or else wanted
  std::uint32_t sequence = 0;       // low half
  std::uint64_t since_ns = 0;       // by the monotonic clock
  std::uint64_t trace_low = 0;
  std::uint64_t back = 0;  // for the process
};
inline constexpr std::uint32_t kGap = 0xFFFF'FFFF;  // in tag_and_flags: 8 bytes with `bytes` alone

// The areas, at page borders.
inline constexpr std::size_t kPage = 4096;
constexpr std::size_t paged(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

inline constexpr std::size_t kHeadAt = 0;
inline constexpr std::size_t kTagTextAt = paged(sizeof(Head));
inline constexpr std::size_t kNodesAt = kTagTextAt + kMostTagText;
inline constexpr std::size_t kNodesBytes = kMostNodes * sizeof(Node);
inline constexpr std::size_t kSlotsAt = kNodesAt + paged(kNodesBytes);
inline constexpr std::size_t kSlotsBytes = sizeof(Slot) * kSlotsInBlock * kMostBlocks;
inline constexpr std::size_t kRingHeadAt = kSlotsAt + paged(kSlotsBytes);
inline constexpr std::size_t kRingAt = kRingHeadAt + kPage;
constexpr std::size_t file_bytes(std::size_t ring_bytes) { return kRingAt + ring_bytes; }

static_assert(sizeof(Node) == 144 && sizeof(Slot) == 128 && sizeof(Record) == 48);
static_assert(sizeof(Record) + kMaxSpanBytes <= UINT16_MAX);

}  // namespace pcp::trace::wire::box
