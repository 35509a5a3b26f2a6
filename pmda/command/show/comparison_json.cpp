// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/comparison_json.hpp"

#include "command/show/model_json.hpp"

namespace pcp::trace::command {

namespace {

const char* word_for(Verdict verdict) {
  constexpr std::array kNames{"not judged", "noise", "real"};
  return kNames[static_cast<std::size_t>(verdict)];
}

void write_tag(JsonWriter& json, const ComparedTag& tag) {
  json.text("name", tag.now->name);
  json.text("type", type_name(tag.now->type));
  json.number("lost_s", tag.lost_s);
  json.object("changes", [&] {
    for (std::size_t i = 0; i < kFigures; ++i) {
      const Difference& change = tag.changes[i];
      if (!change.is_known()) continue;
      json.object(kFigureNames[i], [&] {
        json.number("before", *change.before);
        json.number("now", *change.now);
        json.text("verdict", word_for(change.verdict));
      });
    }
  });
}

}  // namespace

void write_comparison(JsonWriter& json, const Comparison& comparison) {
  json.object([&] {
    json.number("work", comparison.work);
    json.text("judged_by", comparison.is_over_runs ? "runs" : "intervals");
    json.list("tags", comparison.tags,
              [&](const ComparedTag& tag) { json.object([&] { write_tag(json, tag); }); });
  });
}

}  // namespace pcp::trace::command
