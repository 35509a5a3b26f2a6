// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cmath>

#include "fuzz/input.hpp"
#include "support/encoded.hpp"

namespace pcp::trace::fuzz {

// NaN equals NaN. A zero may lose its sign, because some zeros are not sent.
inline bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// False if the payload is refused. Otherwise its values must have one encoding.
inline bool is_same_again(wire::PduType type, std::string_view payload) {
  const auto once = wire::written_again(type, payload);
  if (!once) return false;
  require(wire::read_u32(*once) == once->size() && wire::type_of(*once) == type);
  require(wire::written_again(type, wire::payload_of(*once)) == once);
  return true;
}

}  // namespace pcp::trace::fuzz
