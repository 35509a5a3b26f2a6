// SPDX-License-Identifier: LGPL-2.1-or-later
// The seed decides all chance in a schedule, in independent streams.
#pragma once

#include <cstdint>
#include <random>

namespace pcp::trace::chaos {

class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
    std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                           static_cast<std::uint32_t>(stream)};
    engine_.seed(sequence);
  }

  // Includes both ends.
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(engine_);
  }
  bool chance(unsigned percent) { return between(1, 100) <= percent; }

  template <typename Enum>
  Enum one_of(Enum last) {
    return static_cast<Enum>(between(0, static_cast<std::uint64_t>(last)));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace pcp::trace::chaos
