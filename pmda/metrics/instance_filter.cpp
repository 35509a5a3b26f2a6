// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/instance_filter.hpp"

#include <algorithm>

namespace pcp::trace::agent {

InstanceFilter::InstanceFilter(const pmProfile* profile, pmInDom indom) {
  if (!profile) return;
  included_ = profile->state == PM_PROFILE_INCLUDE;
  for (int i = 0; i < profile->profile_len; ++i) {
    const pmInDomProfile& part = profile->profile[i];
    if (part.indom != indom) continue;
    included_ = part.state == PM_PROFILE_INCLUDE;
    exceptions_.assign(part.instances, part.instances + part.instances_len);
    std::sort(exceptions_.begin(), exceptions_.end());
  }
}

bool InstanceFilter::includes(int instance) const {
  return std::binary_search(exceptions_.begin(), exceptions_.end(), instance) != included_;
}

}  // namespace pcp::trace::agent
