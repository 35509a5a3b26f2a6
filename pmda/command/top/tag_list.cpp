// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/tag_list.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

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

TagList chosen_tags(const std::vector<Tag>& tags, std::size_t table, const TagChoice& choice) {
  // Computed once for each tag: comparisons are many.
  using Key = std::tuple<double, double, const Tag*>;
  std::vector<Key> keys;
  const auto value = [](Figure column, const Tag& tag) {
    return -value_in(column, tag).value_or(-std::numeric_limits<double>::infinity());
  };
  for (const Tag& tag : tags)
    if (table_of(tag.type) == table && (!choice.pattern || choice.pattern->matches(tag.name)))
      keys.emplace_back(value(choice.sort, tag), value(Figure::Rate, tag), &tag);
  std::ranges::sort(keys, std::less(), [](const Key& key) {
    const auto& [sort, rate, tag] = key;
    return std::tuple<double, double, std::string_view>(sort, rate, tag->name);
  });
  TagList list;
  for (const Key& key : keys) list.push_back(std::get<2>(key));
  return list;
}

std::string covered_time(const Recent& recent, const Shown& shown) {
  std::string text = "last " + shown.duration(recent.elapsed_s);
  if (recent.window_s) text += "; percentiles and max: last " + shown.duration(*recent.window_s);
  return text;
}

std::string recent_text(const Recent& recent, const TagChoice& choice, std::size_t most,
                        const Shown& shown) {
  std::string text = Shown::time(recent.at) + "  ";
  for (const std::string& host : recent.hosts) text += shown.name(host, 40) + "  ";
  text += covered_time(recent, shown) + "\n";
  const TagTable table(shown, recent.tags, choice.sort, true);
  for (std::size_t kind = 0; kind < kTableTitles.size(); ++kind) {
    TagList tags = chosen_tags(recent.tags, kind, choice);
    if (tags.empty()) continue;
    tags.resize(std::min(tags.size(), most));
    text += shown.bold(table.heading(kind)) + "\n";
    for (const std::string& line : table.rows(tags)) text += line + "\n";
  }
  return text + "\n";
}

std::string recent_json(const Recent& recent, const TagChoice& choice, std::size_t most) {
  Run run;
  run.hosts = recent.hosts;
  JsonWriter json;
  json.object([&] {
    json.text("at", rfc3339(recent.at));
    json.list("hosts", recent.hosts, [&](const std::string& host) { json.text(host); });
    json.number("elapsed_s", recent.elapsed_s);
    json.number("window_s", recent.window_s);
    json.array("tags", [&] {
      for (std::size_t kind = 0; kind < kTableTitles.size(); ++kind) {
        const TagList tags = chosen_tags(recent.tags, kind, choice);
        for (std::size_t i = 0; i < std::min(tags.size(), most); ++i)
          write_tag(json, *tags[i], run);
      }
    });
  });
  return json.document() + "\n";
}

}  // namespace pcp::trace::command
