// SPDX-License-Identifier: LGPL-2.1-or-later
// SipHash with a key that is random for each object.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/sip_hash.hpp"

namespace pcp::trace {

class KeyedHash {
 public:
  KeyedHash();

  // `tweak` gives equal texts different hashes for different purposes.
  std::uint64_t operator()(std::string_view text, std::uint64_t tweak) const;

 private:
  SipHash::Key key_{};
};

}  // namespace pcp::trace
