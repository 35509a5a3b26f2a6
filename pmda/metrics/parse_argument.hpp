// SPDX-License-Identifier: LGPL-2.1-or-later
// Parsers for single arguments of the command line. An error names what is wrong and says what is
// valid.
#pragma once

#include <pcp/pmapi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collector/engine/types.hpp"
#include "wire/result.hpp"

namespace pcp::trace::agent {

Result<std::int64_t> parse_number(const std::string& text, std::int64_t least, std::int64_t most);

// A port number or the name of a TCP service.
Result<std::uint16_t> parse_port(const std::string& text);

// An interval as PCP's tools take it, as in "30 seconds" or "500msec".
Result<Time> parse_period(const std::string& text);

// Comma-separated keys of labels, as tags may have them, none of them twice.
Result<std::vector<std::string>> parse_keys(const std::string& text);

// Six comma-separated integers: dimension in space, time and count, then the scales.
Result<pmUnits> parse_units(const std::string& text);

}  // namespace pcp::trace::agent
