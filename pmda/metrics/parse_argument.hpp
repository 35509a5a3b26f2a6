// SPDX-License-Identifier: LGPL-2.1-or-later
// Parsers for command-line arguments. An error names the mistake and the valid values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collector/engine/types.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

Result<std::int64_t> parse_number(const std::string& text, std::int64_t least, std::int64_t most);

// A port number or the name of a TCP service.
Result<std::uint16_t> parse_port(const std::string& text);

// An interval in the form of PCP's tools: "30 seconds", "500msec".
Result<Duration> parse_period(const std::string& text);

// Comma-separated label keys for tags, without duplicates.
Result<std::vector<std::string>> parse_keys(const std::string& text);

// Six comma-separated integers: dimension in space, time and count, then the scales.
Result<pmUnits> parse_units(const std::string& text);

}  // namespace pcp::trace::agent
