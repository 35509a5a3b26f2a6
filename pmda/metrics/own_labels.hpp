// SPDX-License-Identifier: LGPL-2.1-or-later
// Labels that the agent itself gives to instances, and the size of labels in an answer. Programs'
// own labels are in their Origin.
#pragma once

#include <string_view>

#include "collector/engine/label_text.hpp"
#include "collector/types.hpp"

namespace pcp::trace::agent {

// The tag's name, and the labels in the tag.
LabelText labels_of_tag(std::string_view tag);

// The same, with labels and description only if shown.
LabelText labels_of_tag(const InstanceName& tag, bool shows_labels, bool shows_description);

// Approximate bytes of the labels in the tag, and of its description.
std::size_t bytes_of_labels(const InstanceName& tag);
std::size_t bytes_of_description(const InstanceName& tag);
std::size_t bytes_of_labels(const Origin& origin);

// The identity of a process, from the kernel if possible.
LabelText labels_of_process(const ClientView& client);

}  // namespace pcp::trace::agent
