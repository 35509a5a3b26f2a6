// SPDX-License-Identifier: LGPL-2.1-or-later
// The figures that a comparison shows, and what a change of them means.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "command/run/comparison.hpp"
#include "command/show/shown.hpp"
#include "command/show/summary_table.hpp"

namespace pcp::trace::command {

// A column, which observations, points and counters may share with transactions.
struct ComparedColumn {
  Figure figure;
  std::string_view title;
  int importance;  // a narrow table has the most important ones
};

inline constexpr std::array kComparedColumns{ComparedColumn{Figure::Calls, "calls", 8},
                                             ComparedColumn{Figure::Failed, "failed", 0},
                                             ComparedColumn{Figure::FailedShare, "failed%", 7},
                                             ComparedColumn{Figure::Total, "total", 6},
                                             ComparedColumn{Figure::Mean, "mean", 4},
                                             ComparedColumn{Figure::P50, "p50", 3},
                                             ComparedColumn{Figure::P95, "p95", 5},
                                             ComparedColumn{Figure::P99, "p99", 2},
                                             ComparedColumn{Figure::Max, "max", 1}};

// The figure of this column for a tag: a counter has the added amount where others have the total
// time.
Figure figure_in(const ComparedColumn& column, const Tag& tag);

// The heading of a column over tags of a kind; empty: they have no such value.
std::string_view title_in(const ComparedColumn& column, std::size_t kind);

// True if more of it is worse; else a change is neither good nor bad.
bool is_worse_if_more(Figure figure, const Tag& tag);

// The value as text, a sum divided; empty: a tag of this type has none.
std::string compared_value(const Tag& tag, Figure figure, const Shown& shown, double divisor = 1);

// " per run", " per call of request": what sums are; empty: they are those of whole runs.
std::string per_what(const Divisors& divisors, const Shown& shown, std::size_t columns_of_tag);

// The same with both divisors: " per run: 3 before, 4 now".
std::string per_how_many(const Divisors& divisors, const Shown& shown, std::size_t columns_of_tag);

// Gives each table its first `most` tags, in order.
std::array<std::vector<const ComparedTag*>, kTableTitles.size()> by_kind(
    const Comparison& comparison, std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace pcp::trace::command
