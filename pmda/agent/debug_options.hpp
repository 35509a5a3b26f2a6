// SPDX-License-Identifier: LGPL-2.1-or-later
// PCP's debug options of this process, replaced as a whole.
#pragma once

#include <string>

namespace pcp::trace::agent {

class DebugOptions {
 public:
  // Takes a comma-separated list of names or numbers, "none" or nothing for no options. False, with
  // nothing changed, if a part of it is unknown.
  bool replace(const std::string& options);

  const std::string& text() const { return text_; }

 private:
  static bool set(const std::string& options);

  std::string text_ = "none";
};

}  // namespace pcp::trace::agent
