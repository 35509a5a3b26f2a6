// SPDX-License-Identifier: LGPL-2.1-or-later
// Two runs side by side, for people at a terminal, and the texts that other forms show as well.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/run/comparison.hpp"
#include "command/show/shown.hpp"
#include "command/show/summary_table.hpp"

namespace pcp::trace::command {

// Shows what became slower or faster than in an older run, and by how much. Lines end with a
// newline.
std::string shown_comparison(const Totals& base, const Totals& now, const Comparison& comparison,
                             const Terminal& terminal);

// The figure of this column for a tag: a counter has the added amount where others have the total
// time. Nothing: a comparison has none there.
std::optional<Figure> compared_in(Figure column, TraceType type);

// The heading of a column over the tags of a table; empty: they have none.
std::string_view compared_heading(Figure column, std::size_t table);

// The value in a column as text, a sum divided; empty: a tag of this type has none.
std::string compared_value(const Tag& tag, Figure column, const Shown& shown, double divisor = 1);

// " per run", " per call of request": what sums are; empty: they are those of whole runs.
std::string per_what(const Divisors& divisors, const Shown& shown, std::size_t columns_of_tag);

// The same with both divisors: " per run: 3 before, 4 now".
std::string per_how_many(const Divisors& divisors, const Shown& shown, std::size_t columns_of_tag);

// Gives each table its first `most` tags, in order.
TablesOf<ComparedTag> by_kind(const Comparison& comparison,
                              std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace pcp::trace::command
