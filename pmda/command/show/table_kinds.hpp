// SPDX-License-Identifier: LGPL-2.1-or-later
// The three tables of a report, and how they share its lines.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "wire/trace_type.hpp"

namespace pcp::trace::command {

inline constexpr std::array<std::string_view, 3> kTableTitles{"Transactions", "Observations",
                                                              "Points, counters"};

// The index of a type's table.
constexpr std::size_t table_of(TraceType type) {
  return type == TraceType::Transact ? 0 : type == TraceType::Observe ? 1 : 2;
}

// The number of entries that each table shows, from the lines that each entry takes: as many as
// fit. The first table gets two entries for each of the others'.
std::vector<std::size_t> deal_lines(const std::vector<std::vector<std::size_t>>& tables,
                                    std::size_t lines);

}  // namespace pcp::trace::command
