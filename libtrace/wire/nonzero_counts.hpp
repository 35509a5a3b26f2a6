// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds a histogram's few occupied bins without a branch per bin.
#pragma once

#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace pcp::trace {

// A bit for each of 32 counts, set if not zero.
inline std::uint32_t nonzero_counts(const std::uint16_t* counts) {
#ifdef __SSE2__
  const auto* vectors = reinterpret_cast<const __m128i*>(counts);
  const auto zero_bytes = [vectors](int i) {
    const __m128i zero = _mm_setzero_si128();
    return _mm_packs_epi16(_mm_cmpeq_epi16(_mm_loadu_si128(vectors + i), zero),
                           _mm_cmpeq_epi16(_mm_loadu_si128(vectors + i + 1), zero));
  };
  const auto low = static_cast<std::uint32_t>(_mm_movemask_epi8(zero_bytes(0)));
  const auto high = static_cast<std::uint32_t>(_mm_movemask_epi8(zero_bytes(2)));
  return ~(low | high << 16);
#else
  std::uint32_t bits = 0;
  for (int i = 32; i-- > 0;) bits = bits << 1 | std::uint32_t{counts[i] != 0};
  return bits;
#endif
}

}  // namespace pcp::trace
