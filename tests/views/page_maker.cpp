// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the page of a made-up run, which tests choose by its name: page_maker RUN FILE. Prints, as
// JSON, values that a test must find in the page.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "command/run/archive_reader.hpp"
#include "command/show/json_writer.hpp"
#include "command/show/model_json.hpp"
#include "command/show/page/page.hpp"
#include "views/made_spans.hpp"

using namespace pcp::trace;
using namespace pcp::trace::command;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr WallTime kBegin{std::chrono::seconds(1'790'000'000)};
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

Grid grid_of(std::size_t points, std::chrono::nanoseconds step) {
  Grid grid;
  for (std::size_t i = 0; i <= points; ++i)
    grid.edges.push_back(kBegin + step * static_cast<long>(i));
  return grid;
}

Model model_of(std::size_t points, std::chrono::nanoseconds step) {
  Model model;
  model.run = {.archives = {"shop.trace"},
               .hosts = {"build7"},
               .command = "./shop --port 8080",
               .time_zone = "Europe/Berlin",
               .begin = kBegin,
               .end = kBegin + step * static_cast<long>(points),
               .samples = points,
               .interval = step,
               .gaps = {}};
  model.fine = grid_of(points, step);
  model.coarse = grid_of(std::min<std::size_t>(points, 120),
                         step * static_cast<long>(std::max<std::size_t>(points / 120, 1)));
  return model;
}

// How a made-up tag behaves.
struct Habit {
  double per_second;
  double median_s;
  double spread;  // standard deviation of the logarithms
  double failed = 0;
  double slow_tail = 0;  // share of calls that take ten times as long
};

double quantile_of(std::vector<double>& values, double q) {
  const auto at = values.begin() + static_cast<long>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// A wave, and higher load from 58% to 66% of the run.
double load_at(double share) {
  return 1 + 0.35 * std::sin(share * 11) + 0.2 * std::sin(share * 37 + 1);
}
double slowness_at(double share) {
  return share > 0.58 && share < 0.66 ? 1 + 5 * std::sin((share - 0.58) / 0.08 * 3.14159)
                                      : 1 + 0.1 * std::sin(share * 23);
}

class Maker {
 public:
  explicit Maker(Model& model, unsigned seed = 7) : model_(model), random_(seed) {}

  // A transaction or an observation with random values; each interval has its own.
  void measure(const std::string& name, TraceType type, const Habit& habit, bool is_coarse = false,
               bool has_histogram = true) {
    Tag tag = tag_of(name, type);
    const Grid& grid = is_coarse ? model_.coarse : model_.fine;
    Series series = empty_series(grid.points(), is_coarse);
    Histogram all;
    double sum = 0;
    for (std::size_t i = 0; i < grid.points(); ++i) {
      const double length =
          std::chrono::duration<double>(grid.edges[i + 1] - grid.edges[i]).count();
      const double share = static_cast<double>(i) / static_cast<double>(grid.points());
      const auto calls =
          std::poisson_distribution<int>(habit.per_second * length * load_at(share))(random_);
      std::vector<double> values = values_of(habit, share, calls);
      Histogram here;
      for (const double each : values) here.add(each);
      fill(series, i, calls, values);
      sum += series.of(Quantity::Sum)[i];
      const double failed = std::floor(calls * habit.failed * slowness_at(share) *
                                       std::uniform_real_distribution<>(0, 2)(random_));
      series.of(Quantity::Failed)[i] = static_cast<float>(failed);
      tag.calls += calls;
      tag.failed = tag.failed.value_or(0) + failed;
      all.merge(here);
      if (has_histogram && calls > 0) add_to_slice(series, i, grid, std::move(here));
      note_extremes(tag, series, i, grid);
    }
    finish(tag, series, sum, all, has_histogram);
  }

  void observe(const std::string& name, const std::function<double()>& next) {
    Tag tag = tag_of(name, TraceType::Observe);
    Series series = empty_series(model_.fine.points(), false);
    Histogram all;
    double sum = 0;
    for (std::size_t i = 0; i < model_.fine.points(); ++i) {
      std::vector<double> values(50);
      std::generate(values.begin(), values.end(), next);
      Histogram here;
      for (const double each : values) here.add(each);
      fill(series, i, 50, values);
      sum += static_cast<double>(series.of(Quantity::Sum)[i]);
      tag.calls += 50;
      all.merge(here);
      add_to_slice(series, i, model_.fine, std::move(here));
      note_extremes(tag, series, i, model_.fine);
    }
    finish(tag, series, sum, all, true);
  }

  void count(const std::string& name, TraceType type, double per_second, double step,
             const std::string& unit) {
    Tag tag = tag_of(name, type);
    tag.unit = unit;
    Series series;
    double total = 0;
    for (std::size_t i = 0; i < model_.fine.points(); ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(model_.fine.points());
      const int calls = std::poisson_distribution<int>(per_second * load_at(share))(random_);
      series.of(Quantity::Calls).push_back(static_cast<float>(calls));
      tag.calls += calls;
      total += calls * step;
      if (type != TraceType::Counter) continue;
      series.of(Quantity::Counted).push_back(static_cast<float>(calls * step));
      series.of(Quantity::Last).push_back(static_cast<float>(total));
    }
    if (type == TraceType::Counter) tag.counted = tag.last = total;
    tag.rate = tag.calls / model_.run.elapsed_s();
    add(std::move(tag), std::move(series));
  }

  void add_total_only(const std::string& name, double calls) {
    Tag tag = tag_of(name, TraceType::Transact);
    tag.calls = calls;
    tag.sum = calls * 0.001;
    tag.mean = 0.001;
    tag.rate = calls / model_.run.elapsed_s();
    tag.busy = *tag.sum / model_.run.elapsed_s();
    tag.percentile_source = PercentileSource::SeveralWindows;
    tag.max = Extreme{0.25, false};
    model_.tags.push_back(std::move(tag));
  }

  void add(Tag tag, Series series) {
    series.tag = model_.tags.size();
    model_.tags.push_back(std::move(tag));
    model_.series.push_back(std::move(series));
  }

  static Tag tag_of(const std::string& name, TraceType type) {
    Tag tag;
    tag.name = name;
    tag.type = type;
    tag.hosts = {0};
    return tag;
  }

 private:
  // As many slices as there are of an archive.
  static void add_to_slice(Series& series, std::size_t i, const Grid& grid, Histogram here) {
    const std::size_t points_of_one = grid.points() / 120 + 1;
    if (i % points_of_one == 0 || series.histograms.empty()) {
      series.histograms.push_back({grid.edges[i], grid.edges[i + 1], std::move(here)});
      return;
    }
    series.histograms.back().end = grid.edges[i + 1];
    series.histograms.back().values.merge(here);
  }

  static Series empty_series(std::size_t points, bool is_coarse) {
    Series series;
    series.is_coarse = is_coarse;
    for (const Quantity each :
         {Quantity::Calls, Quantity::Failed, Quantity::Sum, Quantity::Min, Quantity::Max,
          Quantity::P50, Quantity::P90, Quantity::P95, Quantity::P99, Quantity::P999})
      series.of(each).resize(points, kUnknown);
    return series;
  }

  std::vector<double> values_of(const Habit& habit, double share, int calls) {
    std::lognormal_distribution<double> usual(std::log(habit.median_s * slowness_at(share)),
                                              habit.spread);
    std::uniform_real_distribution<double> chance(0, 1);
    std::vector<double> values(static_cast<std::size_t>(calls));
    for (double& each : values)
      each = usual(random_) * (chance(random_) < habit.slow_tail ? 12 : 1);
    return values;
  }

  static void fill(Series& series, std::size_t i, int calls, std::vector<double>& values) {
    series.of(Quantity::Calls)[i] = static_cast<float>(calls);
    series.of(Quantity::Sum)[i] = 0;
    if (values.empty()) return;
    for (const double each : values) series.of(Quantity::Sum)[i] += static_cast<float>(each);
    series.of(Quantity::Min)[i] =
        static_cast<float>(*std::min_element(values.begin(), values.end()));
    series.of(Quantity::Max)[i] =
        static_cast<float>(*std::max_element(values.begin(), values.end()));
    for (std::size_t k = 0; k < kPercentiles.size(); ++k)
      series.columns[index_of(Quantity::P50) + k][i] =
          static_cast<float>(quantile_of(values, kPercentiles[k]));
  }

  static void note_extremes(Tag& tag, const Series& series, std::size_t i, const Grid& grid) {
    if (std::isnan(series.of(Quantity::Max)[i])) return;
    const double max = static_cast<double>(series.of(Quantity::Max)[i]);
    if (!tag.min || static_cast<double>(series.of(Quantity::Min)[i]) < tag.min->value)
      tag.min = Extreme{static_cast<double>(series.of(Quantity::Min)[i]), true};
    if (tag.max && tag.max->value >= max) return;
    tag.max = Extreme{max, true};
    tag.slowest = SlowestMoment{grid.edges[i + 1], max, false};
  }

  void finish(Tag& tag, Series& series, double sum, Histogram& all, bool has_histogram) {
    const double elapsed = model_.run.elapsed_s();
    tag.sum = sum;
    tag.rate = tag.calls / elapsed;
    if (tag.calls > 0) tag.mean = sum / tag.calls;
    if (tag.type == TraceType::Transact)
      tag.busy = sum / elapsed;
    else
      tag.failed = std::nullopt, series.of(Quantity::Failed).clear(), tag.slowest = std::nullopt,
      series.of(Quantity::Last) = series.of(Quantity::P50);
    tag.percentile_source =
        has_histogram ? PercentileSource::Histogram : PercentileSource::SeveralWindows;
    if (has_histogram && !all.empty()) {
      for (std::size_t i = 0; i < kPercentiles.size(); ++i)
        tag.percentiles[i] = all.quantile(kPercentiles[i]);
      tag.distribution = std::move(all);
    }
    add(std::move(tag), std::move(series));
  }

  Model& model_;
  std::mt19937 random_;
};

Model shop(bool has_histogram = true) {
  Model model = model_of(180, seconds(1));
  Maker maker(model);
  const auto transact = TraceType::Transact;
  maker.measure("checkout", transact, {180, 0.021, 0.35, 0.004, 0.012}, false, has_histogram);
  maker.measure("search{index=products}", transact, {420, 0.0042, 0.5, 0, 0.004}, false,
                has_histogram);
  maker.measure("payment", transact, {95, 0.0128, 0.28, 0.01, 0.03}, false, has_histogram);
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
  return model;
}

Model compared() {
  Model model = shop();
  Model older = shop();
  for (Tag& tag : older.tags) {
    tag.calls *= 0.9;
    if (tag.rate) *tag.rate *= 0.9;
    for (auto& each : tag.percentiles)
      if (each) *each *= tag.name == "payment" ? 0.6 : 1.2;
  }
  older.tags[6].name = "sign-in";
  older.run.archives = {"shop-20260920.trace"};
  model.base = Totals{older.run, older.tags};
  return model;
}

Model with_spans() {
  Model model = shop();
  model.spans = made_spans(kBegin);
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

Model only_points() {
  Model model = model_of(20, milliseconds(100));
  Maker maker(model);
  maker.count("cache-miss", TraceType::Point, 33, 1, "");
  return model;
}

void write_values(JsonWriter& json, const char* name, const std::vector<float>& values) {
  if (values.empty()) return;
  json.list(name, values, [&](float each) { json.number(static_cast<double>(each)); });
}

void write_tag(JsonWriter& json, const Tag& tag) {
  json.object([&] {
    json.number("count", tag.calls);
    json.number("failed", tag.failed);
    json.number("sum", tag.sum);
    json.number("rate", tag.rate);
    json.number("mean", tag.mean);
    json.number("busy", tag.busy);
    json.number("max", value_of(tag.max));
    json.number("last", tag.last);
    json.number("added", tag.counted);
    for (std::size_t i = 0; i < kPercentiles.size(); ++i)
      json.number(kPercentileNames[i], tag.percentiles[i]);
  });
}

void write_series(JsonWriter& json, const Series& series) {
  json.object([&] {
    json.number("tag", series.tag);
    write_values(json, "calls", series.of(Quantity::Calls));
    write_values(json, "failed", series.of(Quantity::Failed));
    write_values(json, "sum", series.of(Quantity::Sum));
    write_values(json, "min", series.of(Quantity::Min));
    write_values(json, "max", series.of(Quantity::Max));
    for (std::size_t i = 0; i < kPercentiles.size(); ++i)
      write_values(json, kPercentileNames[i], series.columns[index_of(Quantity::P50) + i]);
    write_values(json, "value", series.of(Quantity::Last));
    write_values(json, "counted", series.of(Quantity::Counted));
  });
}

std::string expected(const Model& model) {
  JsonWriter json;
  json.object([&] {
    json.list("tags", model.tags, [&](const Tag& tag) { write_tag(json, tag); });
    json.list("series", model.series, [&](const Series& series) { write_series(json, series); });
    json.key("spans");
    model.spans ? write_spans(json, *model.spans) : json.null();
  });
  return json.document();
}

Result<Model> model_named(const std::string& name) {
  if (name == "shop") return shop();
  if (name == "bands") return shop(false);
  if (name == "compared") return compared();
  if (name == "spans") return with_spans();
  if (name == "without_spans") return without_spans();
  if (name == "hostile") return hostile();
  if (name == "large") return large();
  if (name == "empty") return empty();
  if (name == "values") return values();
  if (name == "only_points") return only_points();
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
  if (const Result<void> written = write_page(*model, argv[2]); !written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return 1;
  }
  std::puts(expected(*model).c_str());
  return 0;
}
