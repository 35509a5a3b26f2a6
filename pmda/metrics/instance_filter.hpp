// SPDX-License-Identifier: LGPL-2.1-or-later
// The instances of a domain that a monitor wants: PCP's profile, prepared for fast look-ups.
#pragma once

#include <vector>

#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

class InstanceFilter {
 public:
  // Requires: `profile` is null (all instances) or valid now; it is not kept.
  InstanceFilter(const pmProfile* profile, pmInDom indom);

  bool includes(int instance) const;

 private:
  bool included_ = true;         // for instances that are not listed
  std::vector<int> exceptions_;  // the listed instances, sorted
};

}  // namespace pcp::trace::agent
