// Text from programs, made fit for PCP's tools and for JSON: valid UTF-8 without control bytes.
#pragma once

#include <string>
#include <string_view>

#include "engine/instance_names.hpp"

namespace pcp::trace::agent {

// Written as tags are, \xNN for what must not be shown.
inline std::string printable(std::string_view text) { return shown_name(text, 0, 0); }

}  // namespace pcp::trace::agent
