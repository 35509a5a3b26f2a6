// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "command/show/summary.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostPairs = 20;
constexpr std::size_t kValue = 8;
constexpr std::size_t kChange = 9;
constexpr std::size_t kColumn = kValue + kChange;
constexpr std::size_t kRun = 4;  // "was", "is"

struct Pair {
  const Tag* before;
  const Tag* now;
};

// Which direction of change is better.
enum class Better { Less, Neither };

class ComparisonTable {
 public:
  explicit ComparisonTable(const Shown& shown)
      : shown_(shown), name_columns_(shown.terminal().columns - 3 * kColumn - kRun) {}

  std::string heading() const;
  std::string rows(const Pair& pair) const;

 private:
  using Value = std::optional<double>;

  std::string change(const Value& before, const Value& now, Better better) const;

  const Shown& shown_;
  std::size_t name_columns_;
};

std::string ComparisonTable::heading() const {
  std::string line = Shown::left("", name_columns_ + kRun);
  for (const char* const name : {"per second", "p50", "p99"}) {
    line += Shown::right(name, kValue) + std::string(std::size_t{kChange}, ' ');
  }
  return shown_.bold(Shown::trimmed(line)) + "\n";
}

std::string ComparisonTable::change(const Value& before, const Value& now, Better better) const {
  if (!before || !now) return std::string(kChange, ' ');
  std::string text = " " + shown_.change(*before, *now);
  if (!Shown::has_changed(*before, *now)) return Shown::left(text, kChange);
  text += *now > *before ? shown_.sign("▲", "^") : shown_.sign("▼", "v");
  if (better == Better::Less) text = *now < *before ? shown_.good(text) : shown_.bad(text);
  return Shown::left(text, kChange);
}

std::string ComparisonTable::rows(const Pair& pair) const {
  const auto& [before, now] = pair;
  const auto rate = [this](const Value& value) {
    return Shown::right(value ? Shown::measured(*value) : shown_.nothing(), kValue);
  };
  const auto value_of = [this](const Tag& tag, std::size_t which) {
    const Value& known = tag.percentiles[which];
    const std::string text = known ? shown_.value(tag.type, *known) : shown_.nothing();
    return Shown::right(has_histogram(tag.type) ? text : "", kValue);
  };
  const std::string gap(kChange, ' ');
  std::string first = Shown::left(shown_.name(now->name, name_columns_ - 1), name_columns_);
  first += shown_.faint("was ") + rate(before->rate) + gap + value_of(*before, kP50) + gap +
           value_of(*before, kP99);
  const Better percentiles = now->type == TraceType::Transact ? Better::Less : Better::Neither;
  std::string second = std::string(name_columns_, ' ') + shown_.faint("is  ");
  second += rate(now->rate) + change(before->rate, now->rate, Better::Neither);
  for (const std::size_t which : {kP50, kP99})
    second += value_of(*now, which) +
              change(before->percentiles[which], now->percentiles[which], percentiles);
  return Shown::trimmed(first) + "\n" + Shown::trimmed(second) + "\n";
}

using Key = std::pair<TraceType, std::string>;

std::map<Key, const Tag*> by_name(const std::vector<Tag>& tags) {
  std::map<Key, const Tag*> all;
  for (const Tag& tag : tags) all.emplace(Key(tag.type, tag.name), &tag);
  return all;
}

// Tags that the other run lacks, in one line.
std::string only_in(const std::string& label, const std::vector<Tag>& tags,
                    const std::map<Key, const Tag*>& others, const Shown& shown) {
  std::string names;
  std::size_t count = 0;
  for (const Tag& tag : tags) {
    if (others.contains(Key(tag.type, tag.name))) continue;
    // enough for the widest line
    if (names.size() < 200) names += (names.empty() ? "" : ", ") + tag.name;
    ++count;
  }
  if (count == 0) return "";
  const std::string head = label + " (" + std::to_string(count) + "): ";
  return shown.faint(head) + shown.name(names, shown.terminal().columns - head.size()) + "\n";
}

}  // namespace

std::string comparison(const Totals& base, const Totals& now, const Terminal& terminal) {
  const Shown shown(terminal);
  const auto older = by_name(base.tags);
  std::vector<Pair> pairs;
  for (const Tag& tag : now.tags) {
    const auto before = older.find(Key(tag.type, tag.name));
    if (before != older.end()) pairs.push_back({before->second, &tag});
  }
  std::string text = incompleteness(base.run, shown) + incompleteness(now.run, shown) +
                     shown.faint("was: ") + summary_head(base.run, shown) + shown.faint("is:  ") +
                     summary_head(now.run, shown) + "\n";
  const ComparisonTable table(shown);
  if (pairs.empty())
    text += "No tag is in both.\n";
  else
    text += table.heading();
  const std::size_t rows = std::min(pairs.size(), kMostPairs);
  for (std::size_t i = 0; i < rows; ++i) text += table.rows(pairs[i]);
  if (pairs.size() > rows)
    text += shown.faint("and " + std::to_string(pairs.size() - rows) +
                        " more: see the page (--html FILE), or --json") +
            "\n";
  return text + only_in("only before", base.tags, by_name(now.tags), shown) +
         only_in("only now", now.tags, older, shown);
}

}  // namespace pcp::trace::command
