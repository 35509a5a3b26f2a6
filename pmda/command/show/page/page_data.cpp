// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "command/pcp/archive_source.hpp"
#include "command/run/groups.hpp"
#include "command/show/json_writer.hpp"
#include "command/show/model_json.hpp"
#include "command/show/page/page.hpp"
#include "command/show/trace_json.hpp"
#include "metrics/pmapi.hpp"
#include "wire/dimensions.hpp"
#include "wire/histogram_codec.hpp"

namespace pcp::trace::command {

namespace {

// The columns of a series. Series have no values for vanished transactions, non-finite values and
// rates.
constexpr std::array kColumnNames{"calls", "failed",   "sum",  "vanished", "counted", "nonfinite",
                                  "value", "inflight", "rate", "min",      "max",     "p50",
                                  "p90",   "p95",      "p99",  "p999"};
static_assert(kColumnNames.size() == std::tuple_size_v<decltype(Series::columns)>);

// Milliseconds since 1970, as in Javascript.
double script_time(WallTime at) {
  return std::chrono::duration<double, std::milli>(at.time_since_epoch()).count();
}

// The time zone of a recorded host at some time: browsers do not know all forms of TZ.
struct RunZone {
  std::string name;  // "CET"
  std::chrono::milliseconds east_of_utc{};
};

// `time_zone` in the form of TZ; empty: this process's zone.
RunZone zone_of(const std::string& time_zone, WallTime at) {
  char* ignored = nullptr;
  const int before = pmWhichZone(&ignored);
  const bool is_set = !time_zone.empty() && pmUseZone(new_zone(time_zone)) >= 0;
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  std::tm local{};
  if (is_set)
    pmLocaltime(&seconds, &local);
  else
    ::localtime_r(&seconds, &local);
  RunZone zone{local.tm_zone, std::chrono::seconds(local.tm_gmtoff)};
  if (is_set && before >= 0) pmUseZone(before);
  return zone;
}

// As fine as people can distinguish in a heat map: eight bins for each power of two.
constexpr unsigned kHeatCoarseness = 2;

// All transactions together: the outermost ones if they are known, since calls and times of the
// others are a part of them. Else only counts of all tags can be added up.
struct Whole {
  std::size_t tags = 0;  // that are counted
  double calls = 0;
  std::optional<double> failed = 0;
  std::vector<std::size_t> outermost;     // tags with calls, as indices; empty: unknown
  std::optional<Histogram> distribution;  // of these, if all have one
};

// The only tag, or the tags that captured transactions show outside all others.
std::vector<std::size_t> outermost_of(const Model& model) {
  std::vector<std::size_t> called;
  for (std::size_t i = 0; i < model.tags.size(); ++i)
    if (model.tags[i].type == TraceType::Transact && model.tags[i].calls > 0) called.push_back(i);
  if (called.size() == 1) return called;
  // By name: a label that is known at the end may have kept a label set from being captured.
  std::map<std::string_view, bool> is_nested;
  if (model.spans)
    for (const auto& [tag, its] : model.spans->is_nested) is_nested[bare_name(tag)] |= its;
  std::erase_if(called, [&](std::size_t i) {
    const auto found = is_nested.find(bare_name(model.tags[i].name));
    return found == is_nested.end() || found->second;
  });
  return called;
}

Whole whole_of(const Model& model) {
  Whole whole;
  const auto count = [&whole](const Tag& tag) {
    if (tag.type != TraceType::Transact) return;
    ++whole.tags;
    whole.calls += tag.calls;
    whole.failed =
        whole.failed && tag.failed ? std::optional(*whole.failed + *tag.failed) : std::nullopt;
  };
  whole.outermost = outermost_of(model);
  for (const std::size_t i : whole.outermost) count(model.tags[i]);
  if (whole.outermost.empty()) std::ranges::for_each(model.tags, count);
  const auto has_histogram = [&](std::size_t i) {
    return model.tags[i].distribution && is_of_histogram(model.tags[i].percentile_source);
  };
  if (whole.outermost.empty() || !std::ranges::all_of(whole.outermost, has_histogram)) return whole;
  whole.distribution.emplace();
  for (const std::size_t i : whole.outermost)
    whole.distribution->merge(*model.tags[i].distribution);
  return whole;
}

class Packer {
 public:
  Packer(const Model& model, const Comparison* comparison)
      : model_(model), comparison_(comparison) {}

  std::string pack() {
    json_.object([&] { write_document(); });
    const std::string& document = json_.document();
    std::string bytes;
    bytes.reserve(sizeof(std::uint32_t) * (1 + floats_.size()) + document.size());
    for (unsigned i = 0; i < sizeof(std::uint32_t); ++i)
      bytes += static_cast<char>(document.size() >> 8 * i);
    bytes += document;
    for (unsigned plane = 0; plane < sizeof(float); ++plane)
      for (const float each : floats_)
        bytes += static_cast<char>(std::bit_cast<std::uint32_t>(each) >> 8 * plane);
    return bytes;
  }

 private:
  void write_document() {
    write_totals(json_, model_);
    write_page_facts(model_.run);
    json_.array("figures", [&] { write_figures(); });
    json_.key("whole");
    write_whole(whole_of(model_));
    write_times("fine", model_.fine);
    write_times("coarse", model_.coarse);
    json_.list("series", model_.series, [&](const Series& series) { write_series(series); });
    json_.list("distributions", model_.series, [&](const Series& series) {
      write_distribution(series.tag, model_.tags[series.tag].distribution);
    });
    if (model_.spans) {
      json_.key("spans");
      write_spans(json_, *model_.spans);
      json_.list("exemplars", model_.spans->exemplars,
                 [&](const SpanTrace& trace) { write_trace(json_, trace); });
      json_.list("groups", model_.spans->groups, [&](const auto& each) {
        json_.array([&] {
          json_.text(each.first);
          json_.text(each.second);
        });
      });
    }
    std::vector<HostValue> drawn = model_.host_values;
    std::erase_if(drawn, [](const HostValue& each) { return each.points.empty(); });
    write_host_values(json_, drawn,
                      [&](const HostValue& each) { write_values("points", each.points); });
    json_.number("host_metrics_left_out", model_.host_values.size() - drawn.size());
    json_.list("groupings", groupings_of(model_.tags),
               [&](const Grouping& grouping) { write_grouping(grouping); });
    if (model_.base) json_.object("base", [&] { write_base(*model_.base); });
    if (comparison_ != nullptr) {
      json_.key("comparison");
      write_comparison(json_, *comparison_);
    }
  }

  // The columns and labels of figures, in the order of columns.
  void write_figures() {
    for (const FigureRow& column : kFigures)
      for (const FigureRow& row : kFigures)
        if (row.column == column.figure && !(row.page.title.empty() && row.page.label.empty()))
          json_.object([&] { write_figure(row); });
  }

  void write_figure(const FigureRow& row) {
    constexpr std::array kUnits{"count", "rate", "percent", "number", "value"};
    const FigureRow::Page& page = row.page;
    json_.text("word", row.word);
    json_.text("member", row.member);
    json_.text("column", row_of(row.column).word);
    json_.text("unit", kUnits[static_cast<std::size_t>(row.unit)]);
    write_types("types", row.types & page.types);
    write_types("compared", row.compared);
    json_.truth("is_count", is_count(row.figure));
    json_.number("quantile", row.quantile);
    json_.text("title", page.title);
    json_.text("help", page.help);
    json_.number("drop_rank", page.dropped);
    json_.number("compared_drop_rank", page.dropped_compared);
    json_.text("label", page.label);
    json_.number("place", page.place);
    json_.text("why_unknown", page.why_unknown);
  }

  void write_types(std::string_view key, unsigned types) {
    json_.array(key, [&] {
      for (const TraceType type : kTraceTypes)
        if ((types & type_bit(type)) != 0) json_.text(type_name(type));
    });
  }

  // As many groups as tags have series, and as many distributions as tags have fine series.
  void write_grouping(const Grouping& grouping) {
    constexpr std::size_t kMostGroups = 550;
    constexpr std::size_t kMostDistributions = 50;
    const std::size_t count = std::min(grouping.groups.tags.size(), kMostGroups);
    json_.object([&] {
      json_.key("label");
      grouping.label ? json_.text(*grouping.label) : json_.null();
      json_.list("tags", std::span(grouping.groups.tags).first(count),
                 [&](const Tag& tag) { write_tag(json_, tag, model_.run); });
      json_.list("members", std::span(grouping.groups.members).first(count),
                 [&](const std::vector<std::size_t>& members) {
                   json_.array([&] {
                     for (const std::size_t each : members) json_.number(static_cast<double>(each));
                   });
                 });
      json_.array("distributions", [&] {
        for (std::size_t i = 0; i < std::min(count, kMostDistributions); ++i)
          write_distribution(i, grouping.groups.tags[i].distribution);
      });
    });
  }

  // With the distributions of the tags that have one in the newer run.
  void write_base(const Totals& base) {
    write_totals(json_, base);
    std::map<std::pair<TraceType, std::string_view>, std::size_t> tags;
    for (std::size_t i = 0; i < base.tags.size(); ++i)
      tags.emplace(std::pair(base.tags[i].type, std::string_view(base.tags[i].name)), i);
    json_.list("distributions", model_.series, [&](const Series& series) {
      const Tag& tag = model_.tags[series.tag];
      if (const auto found = tags.find({tag.type, tag.name}); found != tags.end())
        write_distribution(found->second, base.tags[found->second].distribution);
    });
  }

  void write_page_facts(const Run& run) {
    const RunZone zone = zone_of(run.time_zone, run.begin);
    json_.object("page", [&] {
      json_.text("filter", run.filter);
      json_.object("zone", [&] {
        json_.text("name", zone.name);
        json_.number("offset", zone.east_of_utc.count());
      });
      json_.text("generator", "pcp trace " PCP_TRACE_VERSION);
    });
  }

  void write_whole(const Whole& whole) {
    json_.object([&] {
      json_.number("tags", whole.tags);
      json_.number("calls", whole.calls);
      json_.number("failed", whole.failed);
      json_.list("outermost", whole.outermost,
                 [&](std::size_t tag) { json_.number(static_cast<double>(tag)); });
      for (std::size_t i = 0; i < kPercentiles.size(); ++i)
        json_.number(kPercentileNames[i], percentile_of(whole, i));
      json_.text("percentiles_from", source_of(whole));
    });
  }

  // A single tag's own percentiles need no histogram.
  std::optional<double> percentile_of(const Whole& whole, std::size_t which) const {
    if (whole.outermost.size() == 1) return model_.tags[whole.outermost.front()].percentiles[which];
    if (whole.distribution) return whole.distribution->quantile(kPercentiles[which]);
    return std::nullopt;
  }

  std::string_view source_of(const Whole& whole) const {
    if (whole.outermost.size() == 1)
      return words_for(model_.tags[whole.outermost.front()].percentile_source).name;
    return whole.distribution ? words_for(PercentileSource::Histogram).name : "several tags";
  }

  void write_times(std::string_view name, const Grid& grid) {
    json_.list(name, grid.edges, [&](WallTime edge) { json_.number(script_time(edge)); });
  }

  void write_values(std::string_view name, const std::vector<float>& values) {
    if (values.empty()) return;
    json_.number(name, floats_.size());
    floats_.insert(floats_.end(), values.begin(), values.end());
  }

  void write_series(const Series& series) {
    json_.object([&] {
      json_.number("tag", series.tag);
      json_.truth("coarse", series.is_coarse);
      json_.object("columns", [&] {
        for (std::size_t i = 0; i < kColumnNames.size(); ++i)
          write_values(kColumnNames[i], series.columns[i]);
      });
      if (!series.histograms.empty())
        json_.list("heat", series.histograms, [&](const TimedHistogram& column) {
          json_.object([&] {
            json_.number("begin", script_time(column.begin));
            json_.number("end", script_time(column.end));
            Histogram values = column.values;
            values.coarsen_to(kHeatCoarseness);
            write_bins(values);
          });
        });
    });
  }

  void write_distribution(std::size_t tag, const std::optional<Histogram>& distribution) {
    if (!distribution || distribution->empty()) return;
    json_.object([&] {
      json_.number("tag", tag);
      write_bins(*distribution);
    });
  }

  void write_bins(const Histogram& histogram) {
    std::string packed;
    histogram.pack(packed);
    json_.number("coarseness", histogram.coarseness());
    json_.array("bins", [&] {  // distances from the previous bin, mostly 1
      std::int32_t last = 0;
      for_each_packed_bin(packed, [&](std::int32_t bin, std::uint64_t) {
        json_.number(bin - std::exchange(last, bin));
      });
    });
    json_.array("counts", [&] {
      for_each_packed_bin(packed, [&](std::int32_t, std::uint64_t count) {
        json_.number(static_cast<double>(count));
      });
    });
  }

  const Model& model_;
  const Comparison* const comparison_;  // null: none
  JsonWriter json_;
  std::vector<float> floats_;
};

}  // namespace

std::string page_data(const Model& model, const Comparison* comparison) {
  return Packer(model, comparison).pack();
}

}  // namespace pcp::trace::command
