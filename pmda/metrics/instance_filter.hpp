// SPDX-License-Identifier: LGPL-2.1-or-later
// Which instances of a domain a monitor wants: PCP's profile, made quick to ask.
#pragma once

#include <pcp/pmapi.h>

#include <vector>

namespace pcp::trace::agent {

class InstanceFilter {
 public:
  // Requires: `profile` is null (all instances) or valid now; it is not needed later.
  InstanceFilter(const pmProfile* profile, pmInDom indom);

  bool includes(int instance) const;

 private:
  bool included_ = true;         // those that are not listed
  std::vector<int> exceptions_;  // the listed ones, sorted
};

}  // namespace pcp::trace::agent
