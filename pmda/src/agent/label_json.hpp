// Labels as PCP takes them: JSON objects.
#pragma once

#include <string>
#include <string_view>

#include "engine/engine.hpp"
#include "engine/shared.hpp"

namespace pcp::trace::agent {

// The labels of a tag: its name, and those of the processes that use it if they agree.
std::string tag_labels_json(std::string_view tag, const Origin* origin);

// The labels of a process: who it is, as the kernel says where it can, and what it says of itself.
std::string process_labels_json(const ClientView& client);

}  // namespace pcp::trace::agent
