// SPDX-License-Identifier: LGPL-2.1-or-later
// The distribution of all values of a tag since some time, as one line of text, for the metrics
// tracing.histogram.*:
//
//   1 <since_ns> <coarseness> <count> <unbinned> <base64 of the packed histogram>
//
// Distributions of several tags, agents or hosts add up exactly (Histogram::merge). For two samples
// of one tag subtract() gives the values between them. protocol.md has the rules.
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
  // Limit of the packed size. A larger histogram is coarsened, or left out.
  static constexpr std::size_t kMaxPackedBytes = 4096;

  // Limit of each number in the text.
  static constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();

  std::uint64_t since_ns = 0;  // since 1970; differs for each life of an agent
  std::uint64_t unbinned = 0;  // finite values that are not in the histogram
  Histogram histogram;
};

// Gives the text. Requires: `packed` is a packed histogram of `count` values, or empty.
std::string cumulative_histogram_text(std::uint64_t since_ns, std::uint64_t count,
                                      std::uint64_t unbinned, std::string_view packed);

// Parses such a text from any source. Nothing if any byte is wrong.
std::optional<CumulativeHistogram> parse_cumulative_histogram(std::string_view text);

// Gives the values between two samples of one tag, as coarse as the coarser sample. If `older` is
// from another life (`since_ns` differs), or not contained in `newer`: `newer` itself.
CumulativeHistogram subtract(const CumulativeHistogram& newer, const CumulativeHistogram& older);

}  // namespace pcp::trace::agent
