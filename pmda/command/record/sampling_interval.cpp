// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/sampling_interval.hpp"

#include <algorithm>
#include <array>

namespace pcp::trace::command {

namespace {

using namespace std::chrono_literals;

constexpr std::array<Duration, 9> kIntervals{
    kFirstInterval, 200ms, 500ms, 1s, 2s, 5s, 10s, 20s, 60s};

// The least number of samples before the interval grows: to at most a second, and beyond.
constexpr int kSamplesOfAShortRun = 100;
constexpr int kSamplesOfALongRun = 3600;

// A sample of a tag takes up to a microsecond, and 200 bytes.
constexpr Duration kForEachTag = 1ms;
constexpr std::size_t kManyTags = 2000;
constexpr Duration kWithManyTags = 10s;

}  // namespace

Duration interval_after(Duration elapsed, std::size_t tags) {
  const Duration by_length =
      std::max(std::min<Duration>(elapsed / kSamplesOfAShortRun, 1s), elapsed / kSamplesOfALongRun);
  const Duration least =
      tags > kManyTags ? kWithManyTags : kForEachTag * static_cast<std::int64_t>(tags);
  Duration interval = kIntervals.front();
  for (const Duration longer : kIntervals)
    if (longer <= by_length || interval < least) interval = longer;
  return interval;
}

}  // namespace pcp::trace::command
