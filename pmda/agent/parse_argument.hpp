// SPDX-License-Identifier: LGPL-2.1-or-later
// Parsers for single arguments of the command line. Each gives the value, or one line that names
// what is wrong and says what is valid.
#pragma once

#include <pcp/pmapi.h>

#include <cstdint>
#include <string>
#include <variant>

#include "collector/engine/engine.hpp"

namespace pcp::trace::agent {

template <typename Value>
struct Parsed {
  Value value{};
  std::string error;  // empty if all is well
};

Parsed<std::int64_t> parse_number(const std::string& text, std::int64_t least, std::int64_t most);

// A port number or the name of a TCP service.
Parsed<std::uint16_t> parse_port(const std::string& text);

// An interval as PCP's tools take it, as in "30 seconds" or "500 msec".
Parsed<Time> parse_period(const std::string& text);

// Six comma-separated integers: dimension in space, time and count, then the scales.
Parsed<pmUnits> parse_units(const std::string& text);

}  // namespace pcp::trace::agent
