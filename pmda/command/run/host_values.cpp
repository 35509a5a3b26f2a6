// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/host_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "command/pcp/archive_source.hpp"
#include "command/pcp/guarded_reading.hpp"
#include "command/pcp/pcp_values.hpp"
#include "command/run/time_grid.hpp"

namespace pcp::trace::command {

namespace {

// Reads archives one after the other.
class HostReader {
 public:
  explicit HostReader(const Window& window) : window_(window) {}

  Result<void> read(const std::string& path);

  // Orders the values. From now on the points of those for the page are read.
  void begin_points(const Grid& grid);

  std::vector<HostValue> finish();

 private:
  using Key = std::tuple<std::string, std::optional<std::string>, std::string>;

  // An instance at its last sample.
  struct Known {
    std::size_t index = 0;  // in values_
    double value = 0;
    std::optional<WallTime> at{};
  };

  // In the present archive.
  struct Metric {
    RecordedMetric its;
    PlainUnit unit;
    Instances names;
    std::optional<WallTime> sampled{};  // last
    std::unordered_map<int, Known> known{};

    bool is_rate() const { return its.description.sem == PM_SEM_COUNTER; }
  };

  void take(Metric& metric, const pmValueSet& set, WallTime at);
  void add(std::size_t index, double value, WallTime from, WallTime to);
  std::size_t index_of(const Metric& metric, int instance);
  void order();

  const Window window_;
  std::string host_;  // of the present archive
  std::vector<HostValue> values_;
  std::map<Key, std::size_t> indices_;
  std::optional<TimeGrid> grid_;
  std::vector<std::vector<float>> times_;  // the weights of points, which are sums until the end
};

Result<void> HostReader::read(const std::string& path) {
  Result<ArchiveContext> context = open_archive(path);
  if (!context) return context.error();
  host_ = host_name_of(context->number());
  std::unordered_map<pmID, Metric> metrics;
  for (RecordedMetric& each : metrics_of_host()) {
    const pmDesc description = each.description;
    const PlainUnit unit = plain_unit(description.units, description.sem == PM_SEM_COUNTER);
    metrics[description.pmid] = {std::move(each), unit,
                                 instances_by(pmGetInDomArchive, description.indom)};
  }
  if (const int error = context->rewind(); error < 0) return pcp_error(path, error);
  pmapi::ArchiveResult* read = nullptr;
  while (pmapi::fetch_archive(&read) >= 0) {  // the totals of tags know what is damaged
    const OwnedArchiveResult result(read);
    if (result->numpmid == 0)
      for (auto& [id, metric] : metrics) metric.sampled.reset();
    for (const pmValueSet* const set : sets_of(*result))
      if (const auto metric = metrics.find(set->pmid); metric != metrics.end())
        take(metric->second, *set, moment_of(result->timestamp));
  }
  return {};
}

// Nothing is known of an instance from before a sample without it.
void HostReader::take(Metric& metric, const pmValueSet& set, WallTime at) {
  const auto before = std::exchange(metric.sampled, at);
  const int type = metric.its.description.type;
  for (int i = 0; i < set.numval && is_number(type); ++i) {
    pmAtomValue value{};
    if (pmExtractValue(set.valfmt, &set.vlist[i], type, &value, PM_TYPE_DOUBLE) < 0) continue;
    Known& its = metric.known[set.vlist[i].inst];
    if (!its.at) its.index = index_of(metric, set.vlist[i].inst);
    const Known last = std::exchange(its, {its.index, value.d * metric.unit.factor, at});
    if (!before || at <= *before) continue;
    if (!metric.is_rate())
      add(its.index, its.value, *before, at);
    else if (last.at == before && its.value >= last.value)
      add(its.index, (its.value - last.value) / std::chrono::duration<double>(at - *before).count(),
          *before, at);
  }
}

void HostReader::add(std::size_t index, double value, WallTime from, WallTime to) {
  if (!std::isfinite(value) || from < window_.begin || to > window_.end) return;
  const double seconds = std::chrono::duration<double>(to - from).count();
  HostValue& its = values_[index];
  if (!grid_) {
    its.least = its.known_s > 0 ? std::min(its.least, value) : value;
    its.greatest = its.known_s > 0 ? std::max(its.greatest, value) : value;
    its.mean += (value - its.mean) * seconds / (its.known_s += seconds);
  } else if (!its.points.empty()) {
    grid_->set(from, to);
    grid_->for_each_share([&](std::size_t point, double share) {
      its.points[point] += static_cast<float>(value * share * seconds);
      times_[index][point] += static_cast<float>(share * seconds);
    });
  }
}

std::size_t HostReader::index_of(const Metric& metric, int instance) {
  std::optional<std::string> name;
  if (metric.its.description.indom != PM_INDOM_NULL) {
    const auto found = metric.names.find(instance);
    name = found != metric.names.end() ? found->second : "instance " + std::to_string(instance);
  }
  const auto [found, is_new] = indices_.try_emplace({metric.its.name, name, host_}, values_.size());
  if (is_new)
    values_.push_back({metric.its.name, name, host_, metric.unit.words, metric.is_rate()});
  return found->second;
}

// The metrics stay in the order of their first values.
void HostReader::order() {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < values_.size(); ++i) first.try_emplace(values_[i].metric, i);
  std::ranges::stable_sort(values_, {}, [&](const HostValue& each) {
    return std::pair(first.at(each.metric), -each.greatest);
  });
  for (std::size_t i = 0; i < values_.size(); ++i)
    indices_[{values_[i].metric, values_[i].instance, values_[i].host}] = i;
}

void HostReader::begin_points(const Grid& grid) {
  constexpr std::size_t kMostMetrics = 24;
  constexpr std::size_t kMostInstances = 8;
  order();
  times_.resize(values_.size());
  std::map<std::string_view, std::size_t> instances;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (++instances[values_[i].metric] > kMostInstances || instances.size() > kMostMetrics)
      continue;
    values_[i].points.resize(grid.points());
    times_[i].resize(grid.points());
  }
  grid_.emplace(grid);
}

std::vector<HostValue> HostReader::finish() {
  if (!grid_) order();
  for (std::size_t i = 0; i < times_.size(); ++i)
    for (std::size_t point = 0; point < times_[i].size(); ++point)
      values_[i].points[point] /= times_[i][point];  // without a time: NaN
  std::erase_if(values_, [](const HostValue& each) { return each.known_s == 0; });
  return std::move(values_);
}

}  // namespace

Result<std::vector<HostValue>> read_host_values(const std::vector<std::string>& archives,
                                                const Window& window, const Grid* grid) {
  HostReader reader(window);
  for (const std::string& path : archives)
    if (const Result<void> read = reader.read(path); !read) return read.error();
  if (grid == nullptr || archives.empty()) return reader.finish();
  reader.begin_points(*grid);
  for (const std::string& path : archives)
    if (const Result<void> read = reader.read(path); !read) return read.error();
  return reader.finish();
}

PlainUnit plain_unit(const pmUnits& units, bool is_rate) {
  constexpr std::array kSeconds{1e-9, 1e-6, 1e-3, 1.0, 60.0, 3600.0};
  const bool has_space = units.dimSpace == 1;
  const int time = units.dimTime - (is_rate ? 1 : 0);
  const bool is_plain = (has_space || units.dimSpace == 0) && std::abs(units.dimCount) <= 1 &&
                        std::abs(units.dimTime) <= 1 && time >= -1 &&
                        units.scaleTime < kSeconds.size() &&
                        has_space + (units.dimTime == 1) + (units.dimCount == 1) <= 1;
  if (!is_plain) return {1, pmUnitsStr(&units) + std::string(is_rate ? " per second" : "")};
  std::string words = has_space ? "bytes" : units.dimTime == 1 ? "seconds" : "";
  if (units.dimCount == -1) words += words.empty() ? "each" : " each";
  if (is_rate || time < 0) words += words.empty() ? "per second" : " per second";
  return {std::pow(1024, has_space ? units.scaleSpace : 0) *
              std::pow(10, units.dimCount * units.scaleCount) *
              std::pow(kSeconds[units.scaleTime], units.dimTime),
          words};
}

}  // namespace pcp::trace::command
