// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/debug_options.hpp"

#include <pcp/pmapi.h>

namespace pcp::trace::agent {

bool DebugOptions::replace(const std::string& options) {
  const bool known = set(options);
  if (known) {
    text_ = options.empty() || options == "0" ? "none" : options;
  } else {
    set(text_);
  }
  return known;
}

bool DebugOptions::set(const std::string& options) {
  pmClearDebug("all");
  return options == "none" || pmSetDebug(options.c_str()) == 0;
}

}  // namespace pcp::trace::agent
