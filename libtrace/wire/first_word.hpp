// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of instances for PCP's tools, which tell instances apart by their first words: the bytes up
// to the first blank. An instance whose word is taken is shown with its number after that word, as
// in "read#2 /etc/group".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pcp::trace {

inline std::string_view first_word(std::string_view name) { return name.substr(0, name.find(' ')); }

inline std::string suffix_of(std::int32_t instance) { return '#' + std::to_string(instance); }

}  // namespace pcp::trace
