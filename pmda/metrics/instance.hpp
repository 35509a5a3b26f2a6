// SPDX-License-Identifier: LGPL-2.1-or-later
// An instance in PCP's sense, and PCP's rule for names: the first word alone also identifies it.
#pragma once

#include <string>
#include <string_view>

namespace pcp::trace::agent {

struct Instance {
  int number = 0;
  std::string name;
};

inline std::string_view first_word(std::string_view name) { return name.substr(0, name.find(' ')); }

inline bool means(std::string_view asked, std::string_view name) {
  return asked == name || asked == first_word(name);
}

}  // namespace pcp::trace::agent
