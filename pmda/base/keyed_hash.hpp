// SPDX-License-Identifier: LGPL-2.1-or-later
// SipHash-1-3 (Aumasson, Bernstein), with a key that is random for each object.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pcp::trace {

class KeyedHash {
 public:
  KeyedHash();

  // `tweak` gives equal texts different hashes for different purposes.
  std::uint64_t operator()(std::string_view text, std::uint64_t tweak) const;

 private:
  std::array<std::uint64_t, 2> key_{};
};

}  // namespace pcp::trace
