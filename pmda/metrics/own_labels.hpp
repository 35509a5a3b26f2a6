// SPDX-License-Identifier: LGPL-2.1-or-later
// The labels that the agent itself gives to instances. What programs add is in their Origin.
#pragma once

#include <string_view>

#include "collector/engine/label_text.hpp"
#include "collector/types.hpp"

namespace pcp::trace::agent {

// Its name, and the labels that are a part of it.
LabelText labels_of_tag(std::string_view tag);

// These and its description; or the name only.
LabelText labels_of_tag(const InstanceName& tag, bool all);

// About what `all` adds to an answer.
std::size_t bytes_of_labels(const InstanceName& tag);

// Who a process is, as the kernel says where it can.
LabelText labels_of_process(const ClientView& client);

}  // namespace pcp::trace::agent
