// SPDX-License-Identifier: LGPL-2.1-or-later
// A unit in the words of UCUM, which OTLP uses.
#pragma once

#include <string>
#include <string_view>

namespace pcp::trace::command::otlp {

// A word that is no known unit becomes an annotation: "EUR" is {EUR}.
std::string ucum_of(std::string_view unit);

}  // namespace pcp::trace::command::otlp
