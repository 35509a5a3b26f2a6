// SPDX-License-Identifier: LGPL-2.1-or-later
// PCP's debug options of this process, always replaced as a whole.
#pragma once

#include <string>

#include "base/result.hpp"

namespace pcp::trace::agent {

// Adds a comma-separated list of names, or with PCP 6 numbers, to the options. On failure the valid
// parts may have been added.
Result<void> add_debug_options(const std::string& options);

class DebugOptions {
 public:
  // Takes such a list; "none" or an empty text means no options. On failure nothing changes.
  Result<void> replace(const std::string& options);

  const std::string& text() const { return text_; }

 private:
  static Result<void> set(const std::string& options);

  std::string text_ = "none";
};

}  // namespace pcp::trace::agent
