// SPDX-License-Identifier: LGPL-2.1-or-later
// The figures of a tag, a row for each, which summaries, comparisons, Markdown, JSON, conditions
// and the page read. A new figure is a row here, and a word in the help and the manual.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "command/run/model.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::command {

// In the order of tables and JSON.
enum class Figure : std::uint8_t {
  Calls,
  Rate,
  Completed,
  Failed,
  FailedShare,
  Vanished,
  Total,
  Mean,
  Min,
  P50,
  P75,
  P90,
  P95,
  P99,
  P999,
  Max,
  Busy,
  InFlight,
  Last,
  Added
};

constexpr std::size_t index_of(Figure figure) { return static_cast<std::size_t>(figure); }

// A set of types.
using Types = std::uint8_t;
inline constexpr Types kNoTypes = 0;
constexpr Types type_bit(TraceType type) { return static_cast<Types>(1u << index_of(type)); }
inline constexpr Types kTransactions = type_bit(TraceType::Transact);
inline constexpr Types kCounters = type_bit(TraceType::Counter);
inline constexpr Types kDistributions = kTransactions | type_bit(TraceType::Observe);
inline constexpr Types kAllTypes = kDistributions | kCounters | type_bit(TraceType::Point);

struct FigureRow {
  // How it may differ between runs.
  enum class Kind : std::uint8_t {
    Count,   // exact: every difference is one of the runs; grows with the work that a run does
    Sum,     // grows with the work
    Spread,  // the intervals of a run tell how far it is off
    Other,   // of the whole run, or of one call
  };
  enum class Unit : std::uint8_t { Count, Rate, Percent, Number, Value };  // Value: of the tag

  Figure figure;
  std::string_view word;    // in conditions and JSON's changes; empty: in neither
  std::string_view member;  // of a tag in JSON; empty: none
  std::optional<double> (*read)(const Tag&);
  Types types;     // that have it
  Types compared;  // that have it in a comparison
  Kind kind;
  Unit unit;
  // In the tables of transactions, of observations, and of points and counters; empty: not there.
  std::array<std::string_view, 3> headings{};
  struct Summary {
    std::string_view sort{};   // the word of --sort; empty: no column of its own
    std::uint8_t width = 0;    // of the column
    std::uint8_t dropped = 0;  // if the terminal is narrow, as the n-th; 0: never
  };
  Summary summary{};
  std::uint8_t importance = 0;  // a narrow comparison drops the least; 0: no column of it
  struct Page {
    std::string_view title{};  // of columns
    std::string_view help{};   // for the column in the table of tags
    // If the table is narrow, the greatest are dropped first; 0: never; nothing: it has no column.
    std::optional<std::uint8_t> dropped{};
    std::optional<std::uint8_t> dropped_compared{};
    std::string_view label{};  // beside the chosen tag's value; empty: it is not there
    std::uint8_t place = 0;    // there
    std::string_view why_unknown = "it was not recorded";  // if it is no percentile
    Types types = kAllTypes;                               // of those that have it
  };
  Page page{};
  double quantile = std::numeric_limits<double>::quiet_NaN();  // of percentiles
  Figure column = figure;                                      // in whose column it stands
};

inline constexpr std::size_t kFigureCount = index_of(Figure::Added) + 1;
extern const std::array<FigureRow, kFigureCount> kFigures;

inline const FigureRow& row_of(Figure figure) { return kFigures[index_of(figure)]; }

// Null: no figure has this word.
const FigureRow* find_figure(std::string_view word);

inline bool has_figure(TraceType type, Figure figure) {
  return (row_of(figure).types & type_bit(type)) != 0;
}
inline bool is_compared(TraceType type, Figure figure) {
  return (row_of(figure).compared & type_bit(type)) != 0;
}
inline bool is_count(Figure figure) { return row_of(figure).kind == FigureRow::Kind::Count; }
inline bool is_sum(Figure figure) {
  return is_count(figure) || row_of(figure).kind == FigureRow::Kind::Sum;
}
inline bool varies_within_a_run(Figure figure) {
  return row_of(figure).kind == FigureRow::Kind::Spread;
}
inline bool is_percentile(Figure figure) { return row_of(figure).quantile > 0; }

// True if failed calls were not recorded, and would count. The stock agent does not count them.
bool lacks_failed(const Tag& tag, Figure figure);

// The figure in a column for tags of this type; nothing: they have none there.
std::optional<Figure> figure_in(Figure column, TraceType type);

// The heading of a column over the tags of a table; empty: they have no such value.
std::string_view heading_of(Figure column, std::size_t table);

// A tag's value, the share of failures in percent; nothing: unknown, or not of this type.
std::optional<double> value_of(const Tag& tag, Figure figure);

// The same in a comparison, with a sum divided.
std::optional<double> compared_value_of(const Tag& tag, Figure figure, double divisor);

}  // namespace pcp::trace::command
