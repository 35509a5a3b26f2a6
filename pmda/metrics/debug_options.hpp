// SPDX-License-Identifier: LGPL-2.1-or-later
// PCP's debug options of this process, replaced as a whole.
#pragma once

#include <string>

#include "wire/result.hpp"

namespace pcp::trace::agent {

// Adds a comma-separated list of names or numbers to the options. If a part of it is unknown, some
// may have been added.
Result<void> add_debug_options(const std::string& options);

class DebugOptions {
 public:
  // Takes a list as above, or "none" or nothing for no options. Nothing changes if it fails.
  Result<void> replace(const std::string& options);

  const std::string& text() const { return text_; }

 private:
  static Result<void> set(const std::string& options);

  std::string text_ = "none";
};

}  // namespace pcp::trace::agent
