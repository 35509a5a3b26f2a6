// SPDX-License-Identifier: LGPL-2.1-or-later
// The distribution of all of a tag's values since some time, as the metrics tracing.histogram.*
// give it in one line of text:
//
//   1 <since_ns> <coarseness> <count> <unbinned> <base64 of the packed histogram>
//
// Distributions of several tags, agents or hosts add up exactly (Histogram::merge); of two samples
// of one tag subtract() gives what came in between. protocol.md has the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "wire/histogram.hpp"

namespace pcp::trace::agent {

struct CumulativeHistogram {
  // Packed. What has more is coarsened, or is not given at all.
  static constexpr std::size_t kMaxPackedBytes = 4096;

  // None of the numbers in the text is greater.
  static constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();

  std::uint64_t since_ns = 0;  // since 1970; differs for each life of an agent
  std::uint64_t unbinned = 0;  // finite values that the histogram does not have
  Histogram histogram;
};

// Gives the text. Requires: `packed` is a packed histogram of `count` values, or empty.
std::string cumulative_histogram_text(std::uint64_t since_ns, std::uint64_t count,
                                      std::uint64_t unbinned, std::string_view packed);

// Reads such a text, wherever it comes from. Nothing if any of its bytes is wrong.
std::optional<CumulativeHistogram> parse_cumulative_histogram(std::string_view text);

// Gives what came between two samples of one tag, as coarse as the coarser one. If the older one is
// of another life, so that `since_ns` differs, or is no part of the newer one: the newer one.
CumulativeHistogram subtract(const CumulativeHistogram& newer, const CumulativeHistogram& older);

}  // namespace pcp::trace::agent
