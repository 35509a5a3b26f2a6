// SPDX-License-Identifier: LGPL-2.1-or-later
// The labels that the agent itself gives to instances. What programs add is in their Origin.
#pragma once

#include <string_view>

#include "collector/engine/label_text.hpp"
#include "collector/types.hpp"

namespace pcp::trace::agent {

LabelText labels_of_tag(std::string_view tag);

// Who a process is, as the kernel says where it can.
LabelText labels_of_process(const ClientView& client);

}  // namespace pcp::trace::agent
