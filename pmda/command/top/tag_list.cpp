// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/tag_list.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "command/show/model_json.hpp"

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
    if (!choice.pattern || choice.pattern->matches(tag.name))
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

}  // namespace pcp::trace::command
