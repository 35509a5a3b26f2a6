// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/debug_options.hpp"

#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

Result<void> add_debug_options(const std::string& options) {
  if (pmSetDebug(options.c_str()) == 0) return {};
  return Error{"\"" + options + "\" has an unknown debug option; `pmdbg -l` lists them all"};
}

Result<void> DebugOptions::replace(const std::string& options) {
  Result<void> replaced = set(options);
  if (replaced) {
    text_ = options.empty() || options == "0" ? "none" : options;
  } else {
    static_cast<void>(set(text_));  // cannot fail: was valid before
  }
  return replaced;
}

Result<void> DebugOptions::set(const std::string& options) {
  pmClearDebug("all");
  if (options.empty() || options == "0" || options == "none") return {};
  return add_debug_options(options);
}

}  // namespace pcp::trace::agent
