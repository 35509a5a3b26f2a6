// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/tag_text.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "collector/engine/cumulative_histogram.hpp"
#include "command/run/histogram_slices.hpp"
#include "command/show/model_json.hpp"
#include "wire/capture_filter.hpp"
#include "wire/histogram_codec.hpp"

namespace pcp::trace::command {

Result<void> TagChoice::set_pattern(const std::string& typed) {
  text = typed;
  const bool is_pattern = text.find_first_of("*?[\\") != std::string::npos;
  Result<Glob> glob = Glob::parse(is_pattern ? text : "*" + text + "*");
  if (!glob) return Error{"\"" + text + "\": " + glob.error().message};
  pattern = *std::move(glob);
  return {};
}

TablesOf<Tag> chosen_tags(const std::vector<Tag>& tags, const TagChoice& choice) {
  // Computed once for each tag: comparisons are many.
  using Key = std::tuple<double, double, std::string_view, const Tag*>;
  std::array<std::vector<Key>, kTableTitles.size()> keys;
  const auto value = [](Figure column, const Tag& tag) {
    return -value_in(column, tag).value_or(-std::numeric_limits<double>::infinity());
  };
  for (const Tag& tag : tags)
    if (choice.has(tag))
      keys[table_of(tag.type)].emplace_back(value(choice.sort, tag), value(Figure::Rate, tag),
                                            tag.name, &tag);
  TablesOf<Tag> tables;
  for (std::size_t table = 0; table < tables.size(); ++table) {
    std::ranges::sort(keys[table]);
    keys[table].resize(std::min(keys[table].size(), choice.most));
    for (const Key& key : keys[table]) tables[table].push_back(std::get<const Tag*>(key));
  }
  return tables;
}

std::string no_match(const std::vector<Tag>& tags, const TagChoice& choice) {
  if (tags.empty() || std::ranges::any_of(tags, [&](const Tag& tag) { return choice.has(tag); }))
    return "";
  return "no tag matches \"" + choice.text + "\": type a part of a name, or a pattern (* ? [...])" +
         (wire::parse_capture_filter(choice.text)
              ? "; for single transactions: pcp-trace spans " + choice.text
              : "");
}

std::string covered_time(const Recent& recent, const Shown& shown) {
  std::string text = "last " + shown.duration(recent.elapsed_s);
  if (recent.window_s) text += "; percentiles and max: last " + shown.duration(*recent.window_s);
  return text;
}

std::string recent_text(const Recent& recent, const TagChoice& choice, const Shown& shown) {
  std::string text = Shown::time(recent.at) + "  ";
  for (const std::string& host : recent.hosts) text += shown.name(host, 40) + "  ";
  text += covered_time(recent, shown) + "\n";
  const TagTable table(shown, recent.tags, choice.sort, true);
  const TablesOf<Tag> tables = chosen_tags(recent.tags, choice);
  for (std::size_t kind = 0; kind < tables.size(); ++kind) {
    if (!tables[kind].empty()) text += shown.bold(table.heading(kind)) + "\n";
    for (const std::string& line : table.rows(tables[kind])) text += line + "\n";
  }
  return text + "\n";
}

std::string recent_json(const Recent& recent, const TagChoice& choice) {
  Run run;
  run.hosts = recent.hosts;
  JsonWriter json;
  json.object([&] {
    json.text("at", rfc3339(recent.at));
    json.list("hosts", recent.hosts, [&](const std::string& host) { json.text(host); });
    json.number("elapsed_s", recent.elapsed_s);
    json.number("window_s", recent.window_s);
    json.array("tags", [&] {
      for (const auto& table : chosen_tags(recent.tags, choice))
        for (const Tag* const tag : table) write_tag(json, *tag, run);
    });
  });
  return json.document() + "\n";
}

namespace {

using Bar = std::pair<bins::Edges, std::uint64_t>;

std::vector<Bar> bars_of(Histogram values) {
  constexpr std::size_t kMostBars = 12;
  for (std::vector<Bar> bars;; bars.clear(), values.coarsen()) {
    std::string packed;
    values.pack(packed);
    for_each_packed_bin(packed, [&](std::int32_t bin, std::uint64_t count) {
      bars.emplace_back(bins::edges_of(bin, values.coarseness()), count);
    });
    if (bars.size() <= kMostBars || values.coarseness() == Histogram::kMaxCoarseness) return bars;
  }
}

void add_bars(std::vector<std::string>& lines, TraceType type,
              const std::vector<TagDetail>& details, const Shown& shown) {
  Histogram sum;
  std::optional<WallTime> since;
  for (const TagDetail& each : details)
    if (const auto values = agent::parse_cumulative_histogram(each.histogram)) {
      sum.merge(values->histogram);
      since = std::max(since, since_of(each.histogram));
    }
  if (!since) return;
  lines.push_back(shown.bold("Distribution since " + Shown::date(*since)));
  if (sum.empty())
    lines.emplace_back("  no values yet: the agent adds them after each of its intervals");
  const std::vector<Bar> bars = bars_of(std::move(sum));
  std::uint64_t most = 1;
  for (const auto& [edges, count] : bars) most = std::max(most, count);
  const std::size_t room = room_after(shown.terminal().columns, 34);
  for (const auto& [edges, count] : bars) {
    std::string& line =
        lines.emplace_back(Shown::right(shown.value(type, edges.least), 10) + " to " +
                           Shown::left(shown.value(type, edges.greatest), 9) +
                           Shown::right(Shown::count(static_cast<double>(count)), 8) + " ");
    for (std::size_t i = 0; i <= room * count / most; ++i) line += shown.sign("▇", "#");
  }
}

}  // namespace

std::vector<std::string> detail_lines(const TagKey& key, const Tag* tag,
                                      const std::vector<TagDetail>& details, const Shown& shown) {
  const std::size_t columns = shown.terminal().columns;
  std::vector<std::string> lines{shown.bold(shown.name(key.second, columns))};
  std::string& figures = lines.emplace_back(tag == nullptr ? "  no values now" : "");
  for (const FigureRow& row : kFigures)
    if (tag != nullptr && value_of(*tag, row.figure))
      figures += "  " + std::string(row.word.empty() ? row.summary.sort : row.word) + " " +
                 shown_figure(row.figure, *tag, shown);
  OpenTransactions open;
  for (const TagDetail& each : details) {
    const std::string label =
        "  labels " + (details.size() > 1 ? "on " + shown.name(each.host, 30) + " " : "");
    if (!each.labels.empty())
      lines.push_back(label + shown.name(each.labels, room_after(columns, columns_of(label))));
    std::ranges::copy(each.open, std::back_inserter(open.tags));
  }
  if (!open.tags.empty())
    std::ranges::move(lines_of(open_table(open, shown)), std::back_inserter(lines));
  add_bars(lines, key.first, details, shown);
  return lines;
}

}  // namespace pcp::trace::command
