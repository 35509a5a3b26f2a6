// SPDX-License-Identifier: LGPL-2.1-or-later
// Which transactions somebody wants to see, as one line:
//
//   tag=GLOB[,GLOB..] slower=10ms share=1% limit=1000/s pid=N service=GLOB process=GLOB
//   kind=point,observe,counter
//
// Words in any order, each at most once, with blanks between them. All that is named must match; at
// least one word is there. Double quotes around a value, or one of several, hold blanks and commas
// together; after a backslash each byte is itself, within quotes and outside. The agent checks such
// a line and makes it canonical, the client matches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/events.hpp"
#include "wire/glob.hpp"
#include "wire/result.hpp"

namespace pcp::trace::wire {

inline constexpr std::size_t kMaxFilterGlobs = 32;    // tag's, service's and process's
inline constexpr std::uint32_t kDefaultLimit = 1000;  // spans a second
inline constexpr std::uint32_t kMaxLimit = 1'000'000;
inline constexpr std::uint64_t kMaxSlowerNs = 86'400'000'000'000;  // a day
inline constexpr std::uint64_t kWholeShare = 10'000'000'000;

struct CaptureFilter {
  std::vector<Glob> tags;               // one of them must match; empty: all do
  std::uint64_t slower_ns = 0;          // transactions that took at least so long
  std::uint64_t share = kWholeShare;    // of trace ids, in parts of kWholeShare; more than 0
  std::uint32_t limit = kDefaultLimit;  // spans a second
  std::uint32_t pid = 0;                // 0: all
  std::optional<Glob> service;
  std::optional<Glob> process;
  bool points = false;  // events to be captured besides
  bool observations = false;
  bool counters = false;  // their increments too
  bool operator==(const CaptureFilter&) const = default;
};

// The error, one line, says which word and what would be right.
Result<CaptureFilter> parse_capture_filter(std::string_view text);

// Canonical: the words in the order above, always tag and limit, of the others those that say
// something, numbers in their usual unit. Equal filters have equal text, which is at most
// kMaxFilterLength bytes long and parses to the same filter.
std::string text_of(const CaptureFilter& filter);

// Tells whether a pattern matches the tag, or its name if it has labels: so tag=request is all of
// request{route=/cart} too. Allocates nothing.
bool matches_tag(const CaptureFilter& filter, std::string_view tag);

bool matches_process(const CaptureFilter& filter, std::uint32_t pid, std::string_view service,
                     std::string_view process);

// Transactions are always wanted, events if `kind=` names them.
bool matches_kind(const CaptureFilter& filter, SpanKind kind);

// What share= stands for: a trace is captured if the low 56 bits of its id are at least so much.
// So what a small share takes, a greater one takes too, in every process.
std::uint64_t share_threshold(const CaptureFilter& filter);

constexpr bool reaches_threshold(const TraceId& trace, std::uint64_t threshold) {
  constexpr std::uint64_t kLow56Bits = (std::uint64_t{1} << 56) - 1;
  return (trace.low & kLow56Bits) >= threshold;
}

}  // namespace pcp::trace::wire
