// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/dealt_histogram.hpp"

#include <algorithm>

#include "wire/histogram_codec.hpp"

namespace pcp::trace {

DealtHistogram::DealtHistogram(std::string_view packed) {
  if (packed.empty()) return;
  coarseness_ = packed_coarseness(packed);
  for_each_packed_bin(packed, [this](std::int32_t bin, std::uint64_t count) {
    bins_.push_back({bin, count});
    total_ += count;
  });
  left_ = total_;
}

bool DealtHistogram::deal(std::uint64_t until, Histogram& to) {
  const std::uint64_t count = due(until);
  if (count > Histogram::kMaxTotal - to.total()) return false;
  take(count, [&](std::int32_t bin, std::uint64_t part) { to.add_bin(bin, coarseness_, part); });
  return true;
}

std::uint64_t DealtHistogram::due(std::uint64_t until) const {
  const std::uint64_t dealt = total_ - left_;
  return std::max(std::min(until, total_), dealt) - dealt;
}

// Takes evenly spaced values. The start moves by the golden ratio each time: otherwise repeated
// takes of one value would always pick the middle.
template <typename Take>
void DealtHistogram::take(std::uint64_t count, Take take) {
  if (count == 0) return;
  const double share = static_cast<double>(count) / static_cast<double>(left_);
  std::uint64_t passed = 0;
  std::uint64_t taken = 0;
  for (Bin& bin : bins_) {
    if (bin.count == 0) continue;
    passed += bin.count;
    std::uint64_t want = passed;  // if all is wanted: great numbers do not fit into a double
    if (count < left_) {
      const double exact = static_cast<double>(passed) * share + phase_;
      want = std::min(count, static_cast<std::uint64_t>(exact));
    }
    const std::uint64_t part = std::min(want - std::min(want, taken), bin.count);
    if (part == 0) continue;
    take(bin.number, part);
    bin.count -= part;
    taken += part;
  }
  left_ -= taken;
  constexpr double kGoldenRatio = 0.6180339887498949;
  phase_ += phase_ + kGoldenRatio < 1 ? kGoldenRatio : kGoldenRatio - 1;
}

}  // namespace pcp::trace
