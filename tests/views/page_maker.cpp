// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the page of a made-up run, which tests choose by its name: page_maker RUN FILE. Prints, as
// JSON, values that a test must find in the page.
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "command/run/archive_reader.hpp"
#include "command/run/imbalance.hpp"
#include "command/show/json_writer.hpp"
#include "command/show/model_json.hpp"
#include "command/show/page/page.hpp"
#include "views/made_spans.hpp"
#include "views/run_maker.hpp"

using namespace pcp::trace;
using namespace pcp::trace::command;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Model shop(bool has_histogram = true, double payment_s = 0.0128, unsigned seed = 7) {
  Model model = model_of(180, seconds(1));
  Maker maker(model, seed);
  const auto transact = TraceType::Transact;
  maker.measure("checkout", transact, {180, 0.021, 0.35, 0.004, 0.012}, false, has_histogram);
  maker.measure("search{index=products}", transact, {420, 0.0042, 0.5, 0, 0.004}, false,
                has_histogram);
  maker.measure("payment", transact, {95, payment_s, 0.28, 0.01, 0.03}, false, has_histogram);
  maker.measure("render", transact, {600, 0.0009, 0.22}, false, has_histogram);
  maker.measure("sql{table=orders}", transact, {300, 0.0011, 0.6, 0, 0.01}, false, has_histogram);
  maker.measure("cache-fill", transact, {25, 0.0062, 0.8}, false, has_histogram);
  maker.measure("login", transact, {8, 0.012, 0.2, 0.06}, false, has_histogram);
  maker.measure("queue-length", TraceType::Observe, {600, 17, 0.5}, false, has_histogram);
  model.tags.back().unit = "job";
  model.tags.back().description = "Jobs that wait <b>for</b> a\u202e worker";
  maker.count("bytes-sent", TraceType::Counter, 420, 4096, "byte");
  maker.count("cache-miss", TraceType::Point, 33, 1, "");
  model.run.gaps.push_back({kBegin + seconds(40), kBegin + seconds(44), 0});
  SlowestMoment& captured = *model.tags[2].slowest;  // its begin is known
  captured.is_begin = true;
  captured.at = *captured.at - milliseconds(250);
  captured.within_s.reset();
  return model;
}

// With PCP's own metrics of its host. The disk was full for some time.
Model hosted() {
  Model model = shop();
  const auto add = [&](const std::string& metric, std::optional<std::string> instance,
                       const std::string& unit, auto value_at) {
    HostValue& its = model.host_values.emplace_back();
    its = {metric, std::move(instance), "build7", unit, true, 0, 1, 2, 180, {}};
    for (std::size_t i = 0; i < model.fine.points(); ++i)
      its.points.push_back(static_cast<float>(value_at(static_cast<double>(i))));
  };
  add("filesys.free", "/dev/vda1", "bytes",
      [](double i) { return i > 100 && i < 120 ? 0 : 2e10 - 1e8 * i; });
  add("kernel.all.cpu.user", {}, "seconds per second", [](double i) { return load_at(i / 180); });
  for (const char* const disk : {"sda", "<b>&amp;\u202e", ""})
    add("disk.dev.write", disk, "per second",
        [&](double i) { return i > 40 && i < 44 ? kUnknown : 300 * load_at(i / 90) + *disk; });
  for (const char* const metric : {"mem.util.free", "mem.util.used", "swap.used"})
    add(metric, {}, "bytes", [](double) { return 4e9; });
  model.host_values.push_back({"disk.dev.write", "sdz", "build7", "per second"});
  return model;
}

// Payments take longer than in the older run, which has another name for a tag.
Model compared() {
  Model model = shop();
  Model older = shop(true, 0.008, 11);
  older.tags[6].name = "sign-in";
  older.run.archives = {"shop-20260920.trace"};
  older.run.hosts = {"build6"};
  older.run.begin -= std::chrono::hours(24);
  older.run.end -= std::chrono::hours(24) + seconds(20);
  model.base = Totals{older.run, older.tags};
  return model;
}

Model with_spans() {
  Model model = shop();
  model.spans = made_spans(kBegin, model.run.end);
  return model;
}

Model with_slow_spans() {
  Model model = with_spans();
  model.spans->slower_ns = 200'000'000;
  return model;
}

Model with_died_spans() {
  Model model = with_spans();
  SpanEvent& span = model.spans->slowest.front().spans.front();
  span.flags = wire::kWasOpen;
  span.left_out = 1;
  SpanEvent last = span;
  last.tag = "query";
  last.span = 99;
  last.duration_ns /= 2;
  model.spans->died = {3, {{span, last}}};
  return model;
}

Model without_spans() {
  Model model = shop();
  model.run.filter = "tag=nosuch limit=1000/s";
  model.spans = RecordedSpans{0, 0, 3, {}};
  return model;
}

Model hostile() {
  Model model = model_of(30, seconds(1));
  Maker maker(model);
  const std::string names[] = {"</script><script>window.broken = 1</script>",
                               "<img src=x onerror=\"window.broken = 2\">",
                               "\"'`${window.broken = 3}\\",
                               "\xd7\x9e\xd7\x97\xd7\x99\xd7\xa8 \xd8\xb3\xd8\xb9\xd8\xb1",
                               "\xe2\x80\xaegnp.exe",
                               std::string(250, 'w'),
                               "\x01\x1b[31mred\x7f\t\n",
                               "\xff\xfe not UTF-8",
                               " leading blank",
                               "@PAGE_DATA@ {{x}} %s",
                               "\xf0\x9f\x90\x9f"};
  for (const std::string& name : names) maker.measure(name, TraceType::Transact, {20, 0.01, 0.3});
  model.run.command = "./app '</title><script>window.broken = 4</script>'";
  model.run.filter = "tag=<img\\ src=x\\ onerror=window.broken=6>";
  model.run.hosts = {"<b>host</b>"};
  RecordedSpans& spans = model.spans.emplace();
  spans.traces = 1;
  SpanTrace& trace = spans.slowest.emplace_back();
  trace.id = {6, 6};
  std::uint64_t id = 0;
  for (const std::string& name : names) {
    SpanEvent& span = trace.spans.emplace_back(made_span(name, id + 1, id, 1000 * id, 90'000));
    span.service = span.host = span.reason = name;
    span.pid = static_cast<std::uint32_t>(++id);
    span.aborted = true;
    span.attributes =
        "<img\\x20src=x\\x20onerror=\"window.broken=5\"> __proto__=<b>b</b> number=-1e300";
    span.links = name;
  }
  return model;
}

// Data as PCP's agents give it, and as much as a page may have.
Model large() {
  Model model = model_of(3600, seconds(1));
  Maker maker(model);
  for (int i = 0; i < 50; ++i)
    maker.measure("fine-" + std::to_string(i), TraceType::Transact,
                  {60, 0.05 - 0.0009 * i, 0.4, 0.01, 0.01});
  for (int i = 0; i < 500; ++i)
    maker.measure("coarse-" + std::to_string(i), TraceType::Transact, {2, 0.002 + 0.0001 * i, 0.4},
                  true);
  for (int i = 0; i < 9450; ++i)
    maker.add_total_only("total-" + std::to_string(i) + "{route=/catalogue;zone=eu}", 1000 + i);
  return model;
}

Model large_compared() {
  Model model = large();
  model.base = Totals{model.run, model.tags};
  return model;
}

Model empty() {
  Model model = model_of(0, seconds(1));
  model.tags.clear();
  return model;
}

// Observed values may be zero or negative, or always the same.
Model values() {
  Model model = model_of(20, seconds(1));
  Maker maker(model);
  std::mt19937 random(3);
  maker.observe("whole numbers", [&] { return std::poisson_distribution<int>(3)(random); });
  maker.observe("balance", [&] { return std::normal_distribution<double>(-2, 5)(random); });
  maker.observe("always zero", [] { return 0; });
  maker.observe("always one", [] { return 1; });
  maker.observe("far apart", [&] {
    return std::ldexp(random() % 2 == 0 ? -1 : 1, static_cast<int>(random() % 600));
  });
  return model;
}

// A run that ended before its second sample.
Model one_sample() {
  Model model = model_of(1, milliseconds(700));
  Maker maker(model);
  maker.measure("checkout", TraceType::Transact, {180, 0.021, 0.35, 0.1});
  maker.measure("payment", TraceType::Transact, {95, 0.0128, 0.28});
  maker.measure("render", TraceType::Transact, {600, 0.0009, 0.22});
  return model;
}

// All calls take the same time.
Model one_value() {
  Model model = model_of(20, seconds(1));
  Maker(model).observe(
      "steady", [] { return 0.002; }, 10, TraceType::Transact);
  model.tags.back().failed = 0;
  model.tags.back().percentiles.fill(0.002);
  for (const Quantity unknown : {Quantity::Failed, Quantity::Min, Quantity::P95, Quantity::P999})
    model.series.back().of(unknown).clear();
  return model;
}

// 200 names that differ at their ends.
Model families() {
  Model model = model_of(60, seconds(1));
  Maker maker(model);
  for (int route = 0; route < 25; ++route)
    for (const char* const status : {"200", "201", "302", "400", "404", "409", "500", "503"})
      maker.measure("http_server_request{method=GET,route=/api/v1/shops/" + std::to_string(route) +
                        "/orders,status=" + status + "}",
                    TraceType::Transact, {20.0 / (1 + route), 0.004, 0.4},
                    model.series.size() >= 50);
  return model;
}

// A job whose later ranks take longer.
Model ranks() {
  Model model = model_of(30, seconds(1));
  Maker maker(model);
  for (int rank = 0; rank < 8; ++rank)
    for (const char* const step : {"a", "b"})
      maker.measure("compute{rank=" + std::to_string(rank) + ";step=" + step + "}",
                    TraceType::Transact, {20, 0.002 * (1 + rank), 0.3});
  maker.measure("init", TraceType::Transact, {1, 0.1, 0.2});
  model.imbalances = imbalances_of(model.tags);
  return model;
}

// As many label sets as an agent shows, with as many labels as the page offers.
Model label_sets() {
  Model model = model_of(60, seconds(1));
  Maker maker(model);
  for (int i = 0; i < 10'000; ++i) {
    std::string name = "request{";
    for (int label = 0; label < 8; ++label)
      name += (label == 0 ? "" : ";") + std::string(1, static_cast<char>('a' + label)) + "=" +
              std::to_string(i % (label == 0 ? 10'000 : 7 * label));
    name += "}";
    if (i < 550)
      maker.measure(name, TraceType::Transact, {5, 0.004, 0.4}, i >= 50);
    else
      maker.add_total_only(name, 1000 + i);
  }
  model.imbalances = imbalances_of(model.tags);
  return model;
}

Model only_points() {
  Model model = model_of(20, milliseconds(100));
  Maker maker(model);
  maker.count("cache-miss", TraceType::Point, 33, 1, "");
  return model;
}

void write_tag(JsonWriter& json, const Tag& tag) {
  json.object([&] {
    json.text("name", tag.name);
    json.number("calls", tag.calls);
    json.number("failed", tag.failed);
    json.number("sum", tag.sum);
    json.number("rate", tag.rate);
    json.number("mean", tag.mean);
    json.number("busy", tag.busy);
    json.number("max", value_of(tag.max));
    json.number("last", tag.last);
    json.number("added", added_to(tag));
    for (std::size_t i = 0; i < kPercentiles.size(); ++i)
      json.number(kPercentileNames[i], tag.percentiles[i]);
  });
}

void write_series(JsonWriter& json, const Series& series) {
  constexpr std::pair<const char*, Quantity> kColumns[] = {
      {"calls", Quantity::Calls},    {"failed", Quantity::Failed}, {"sum", Quantity::Sum},
      {"min", Quantity::Min},        {"max", Quantity::Max},       {"p50", Quantity::P50},
      {"p90", Quantity::P90},        {"p95", Quantity::P95},       {"p99", Quantity::P99},
      {"p999", Quantity::P999},      {"value", Quantity::Last},    {"inflight", Quantity::InFlight},
      {"counted", Quantity::Counted}};
  json.object([&] {
    json.number("tag", series.tag);
    for (const auto& [name, quantity] : kColumns)
      if (const auto& values = series.of(quantity); !values.empty())
        json.list(name, values, [&](float each) { json.number(static_cast<double>(each)); });
  });
}

std::string expected(const Model& model) {
  JsonWriter json;
  json.object([&] {
    json.list("tags", model.tags, [&](const Tag& tag) { write_tag(json, tag); });
    json.list("series", model.series, [&](const Series& series) { write_series(json, series); });
    if (model.base)
      json.list("base", model.base->tags, [&](const Tag& tag) { write_tag(json, tag); });
    json.key("spans");
    model.spans ? write_spans(json, *model.spans) : json.null();
  });
  return json.document();
}

Result<Model> model_named(const std::string& name) {
  static const std::map<std::string, Model (*)()> kRuns = {{"shop", [] { return shop(); }},
                                                           {"bands", [] { return shop(false); }},
                                                           {"compared", compared},
                                                           {"hosted", hosted},
                                                           {"spans", with_spans},
                                                           {"slow", with_slow_spans},
                                                           {"died", with_died_spans},
                                                           {"without_spans", without_spans},
                                                           {"hostile", hostile},
                                                           {"large", large},
                                                           {"large_compared", large_compared},
                                                           {"empty", empty},
                                                           {"values", values},
                                                           {"only_points", only_points},
                                                           {"one_sample", one_sample},
                                                           {"one_value", one_value},
                                                           {"families", families},
                                                           {"ranks", ranks},
                                                           {"label_sets", label_sets}};
  if (const auto found = kRuns.find(name); found != kRuns.end()) return found->second();
  return read_model({{name}, {}, "UTC"});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: page_maker RUN|ARCHIVE FILE\n");
    return 2;
  }
  const Result<Model> model = model_named(argv[1]);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message.c_str());
    return 1;
  }
  std::optional<Comparison> comparison;
  if (model->base)
    comparison = compare(Side{*model->base, {}, {}}, Side{*model, {}, {}}, {2, 2, {}});
  if (const Result<void> written = write_page(*model, argv[2], comparison ? &*comparison : nullptr);
      !written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return 1;
  }
  std::puts(expected(*model).c_str());
  return 0;
}
