// Labels as PCP takes them: JSON objects.
#pragma once

#include <string>
#include <string_view>

#include "engine/engine.hpp"

namespace pcp::trace::agent {

// The labels of a tag: its name, and those of the processes that use it if they agree.
std::string tag_labels_json(std::string_view tag, const Origin* origin);

// The labels of a process.
std::string process_labels_json(std::string_view pid, const Origin& origin);

}  // namespace pcp::trace::agent
