// SPDX-License-Identifier: LGPL-2.1-or-later
// The filter of a capture, as one line:
//
//   tag=GLOB[,GLOB..] slower=10ms failed wanted died share=1% limit=1000/s pid=N
//   service=GLOB process=GLOB kind=point,observe,counter
//
// Words in any order, each at most once, at least one, with blanks between them. All words must
// match. Double quotes around a value keep its blanks and commas; after a backslash each byte
// stands for itself, in quotes, too. The agent checks the line and makes it canonical; the client
// matches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "wire/events.hpp"
#include "wire/glob.hpp"

namespace pcp::trace::wire {

inline constexpr std::size_t kMaxFilterGlobs = 32;    // tag's, service's and process's
inline constexpr std::uint32_t kDefaultLimit = 1000;  // spans a second
inline constexpr std::uint32_t kMaxLimit = 1'000'000;
inline constexpr std::uint64_t kMaxSlowerNs = 86'400'000'000'000;  // a day
inline constexpr std::uint64_t kWholeShare = 10'000'000'000;

struct CaptureFilter {
  std::vector<Glob> tags;               // one of them must match; empty: any tag
  std::uint64_t slower_ns = 0;          // least duration of a transaction
  std::uint32_t reasons = 0;            // kIfFailed, kIfWanted, kIfDied
  std::uint64_t share = kWholeShare;    // of trace ids, in units of 1/kWholeShare; more than 0
  std::uint32_t limit = kDefaultLimit;  // spans a second
  std::uint32_t pid = 0;                // 0: all
  std::optional<Glob> service;
  std::optional<Glob> process;
  bool points = false;  // these events are captured, too
  bool observations = false;
  bool counters = false;  // and their increments

  // It wants whole requests with a transaction that is slow, or has all the reasons.
  bool has_reason() const { return slower_ns > 0 || reasons != 0; }
  bool operator==(const CaptureFilter&) const = default;
};

// The error is one line: the bad word, and advice. `limit` is for a filter that names none.
Result<CaptureFilter> parse_capture_filter(std::string_view text,
                                           std::uint32_t limit = kDefaultLimit);

// The canonical text: words in the order above, always with tag and limit, otherwise without
// defaults, numbers in the usual unit. Equal filters have equal text. It has at most
// kMaxFilterLength bytes and parses to the same filter.
std::string text_of(const CaptureFilter& filter);

// CONTROL has the reasons apart from the text. A client that does not know them captures more, not
// less.
void set_filter(Capture& capture, CaptureFilter filter);
Result<CaptureFilter> filter_of(const Capture& capture);

// The reason that a word without a value names; 0: none.
std::uint32_t reason_of(std::string_view word);

// True if a pattern matches the tag, or its name without labels: tag=request also matches
// request{route=/cart}. Allocates nothing.
bool matches_tag(const CaptureFilter& filter, std::string_view tag);

bool matches_process(const CaptureFilter& filter, std::uint32_t pid, std::string_view service,
                     std::string_view process);

// The threshold of share=.
std::uint64_t share_threshold(const CaptureFilter& filter);

}  // namespace pcp::trace::wire
