// SPDX-License-Identifier: LGPL-2.1-or-later
// The labels that the agent itself gives to instances, and how much room labels take in an answer.
// What programs add is in their Origin.
#pragma once

#include <string_view>

#include "collector/engine/label_text.hpp"
#include "collector/types.hpp"

namespace pcp::trace::agent {

// Its name, and the labels that are a part of it.
LabelText labels_of_tag(std::string_view tag);

// The same, as far as there is room for them: of the labels, and of the tag's description.
LabelText labels_of_tag(const InstanceName& tag, bool shows_labels, bool shows_description);

// About the bytes that they take: the labels that are a part of its name, and its description.
std::size_t bytes_of_labels(const InstanceName& tag);
std::size_t bytes_of_description(const InstanceName& tag);
std::size_t bytes_of_labels(const Origin& origin);

// Who a process is, as the kernel says where it can.
LabelText labels_of_process(const ClientView& client);

}  // namespace pcp::trace::agent
