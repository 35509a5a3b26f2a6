// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/metric_writer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "collector/engine/cumulative_histogram.hpp"
#include "command/otlp/exponential_histogram.hpp"
#include "command/otlp/ucum.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::command::otlp {

namespace {

using protozero::pbf_writer;

constexpr std::size_t kPieceBytes = 512 * 1024;

constexpr const char* kTagAttribute = "tag";
constexpr const char* kOutcomeAttribute = "outcome";

constexpr std::uint64_t ns_of(WallTime time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.time_since_epoch().count(), 0));
}

std::uint64_t ns_of(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

bool grows(Shape shape) { return shape != Shape::Level; }

// A program's labels that are called like ours get a longer name.
Attributes attributes_of(std::string_view tag) {
  Attributes attributes = labels_of(tag);
  for (const char* const ours : {kTagAttribute, kOutcomeAttribute})
    if (auto label = attributes.extract(ours)) {
      label.key() = std::string("label.") + ours;
      attributes.insert(std::move(label));
    }
  attributes[kTagAttribute] = std::string(bare_name(tag));
  return attributes;
}

std::string encoded(Field field, const Attributes& attributes) {
  std::string bytes;
  pbf_writer message(bytes);
  add_attributes(message, field, attributes);
  return bytes;
}

void add_buckets(pbf_writer& point, Field field, const ExponentialHistogram::Buckets& buckets) {
  if (buckets.counts.empty()) return;
  pbf_writer made(point, field);
  made.add_sint32(histogram::kOffset, buckets.offset);
  made.add_packed_uint64(histogram::kCounts, buckets.counts.begin(), buckets.counts.end());
}

void add_outcome(pbf_writer& point, Field field, const MetricRow& row) {
  if (row.outcome != nullptr)
    add_attributes(point, field, {{kOutcomeAttribute, std::string(row.outcome)}});
}

void add_exemplar(pbf_writer& point, const Exemplar& exemplar) {
  pbf_writer made(point, histogram::kExemplars);
  made.add_fixed64(exemplar::kTime, exemplar.end_ns);
  made.add_double(exemplar::kDouble, static_cast<double>(exemplar.duration_ns) / 1e9);
  add_span_id(made, exemplar::kSpan, exemplar.span);
  add_trace_id(made, exemplar::kTrace, exemplar.trace);
}

void add_metric(pbf_writer& scope_metrics, const MetricRow& row, const std::string& unit,
                std::string_view points, std::string& out) {
  pbf_writer made(scope_metrics, kItems);
  made.add_string(metric::kName, row.name);
  made.add_string(metric::kDescription, row.description);
  made.add_string(metric::kUnit, unit);
  const bool is_distribution = row.shape == Shape::Distribution;
  pbf_writer data(made, is_distribution    ? metric::kExponentialHistogram
                        : grows(row.shape) ? metric::kSum
                                           : metric::kGauge);
  out.append(points);
  if (grows(row.shape)) data.add_enum(metric::kTemporality, metric::kCumulative);
  if (row.shape == Shape::Total) data.add_bool(metric::kIsMonotonic, true);
}

}  // namespace

std::vector<Piece> MetricWriter::write(const ArchiveSample& sample) {
  if (sample.is_mark) {
    forget_names();
    return {};
  }
  now_ns_ = ns_of(sample.at);
  take_facts_of_agent(sample);
  for (const QuantityValues& values : sample.quantities)
    if (const MetricRow* const row = row_of(values.what)) write_values(values, *row);
  finish_piece();
  before_ns_ = now_ns_;
  return std::exchange(pieces_, {});
}

// After a new start or a reset the agent counts from 0.
void MetricWriter::take_facts_of_agent(const ArchiveSample& sample) {
  AgentLife now = life_;
  for (const QuantityValues& values : sample.quantities) {
    if (!is_of_life(values.what.quantity) || values.values().empty()) continue;
    const double value = values.number(values.values().front());
    if (std::isfinite(value)) now.take(values.what.quantity, value);
  }
  const AgentLife before = std::exchange(life_, now);
  const bool is_other = now.is_other_than(before);
  if (!is_other && life_began_ns_ != 0) return;
  if (is_other) {
    forget_names();
    tags_by_name_.clear();
    agent_.streams = {};
  }
  life_began_ns_ = 0;
  if (now.started_s)
    life_began_ns_ = ns_of(std::max(*now.started_s, now.reset_s.value_or(0)));
  else if (now.uptime_s)
    life_began_ns_ = now_ns_ - std::min(ns_of(*now.uptime_s), now_ns_);
  if (life_began_ns_ == 0) return;
  if (is_other) life_began_ns_ = std::max(life_began_ns_, before_ns_);
  life_began_ns_ = std::min(life_began_ns_, now_ns_);
}

void MetricWriter::write_values(const QuantityValues& values, const MetricRow& row) {
  for (const pmValue& value : values.values()) {
    Tag* const tag = is_of_tags(row.quantity) ? tag_of(values, value.inst) : &agent_;
    if (tag == nullptr) continue;
    if (row.shape == Shape::Distribution)
      write_histogram(values.text(value), row, *tag);
    else
      write_number(values, value, row, *tag);
  }
}

void MetricWriter::write_number(const QuantityValues& values, const pmValue& value,
                                const MetricRow& row, Tag& tag) {
  const double number = values.number(value);
  if (!std::isfinite(number)) return;
  std::string& points = points_of(row, tag);
  const std::size_t before = points.size();
  {
    pbf_writer list(points);
    pbf_writer point(list, metric::kPoints);
    if (grows(row.shape))
      point.add_fixed64(number::kStart,
                        start_of(tag.streams[static_cast<std::size_t>(&row - kMetricRows)],
                                 row.shape == Shape::SignedTotal ? 0 : number));
    point.add_fixed64(number::kTime, now_ns_);
    pmAtomValue whole{};
    if (values.metric.type <= PM_TYPE_U64 &&
        pmExtractValue(values.set->valfmt, &value, values.metric.type, &whole, PM_TYPE_64) >= 0)
      point.add_sfixed64(number::kInteger, whole.ll);
    else
      point.add_double(number::kDouble, number);
    points.append(tag.of_number);
    add_outcome(point, number::kAttributes, row);
  }
  note_point(points.size() - before);
}

void MetricWriter::write_histogram(std::string_view text, const MetricRow& row, Tag& tag) {
  const auto values = agent::parse_cumulative_histogram(text);
  if (!values || values->since_ns > now_ns_) return;
  const ExponentialHistogram made = exponential(values->histogram);
  std::string& points = points_of(row, tag);
  const std::size_t before = points.size();
  {
    pbf_writer list(points);
    pbf_writer point(list, metric::kPoints);
    points.append(tag.of_histogram);
    add_outcome(point, histogram::kAttributes, row);
    point.add_fixed64(histogram::kStart, values->since_ns);
    point.add_fixed64(histogram::kTime, now_ns_);
    point.add_fixed64(histogram::kCount, made.total);
    if (std::isfinite(made.sum)) point.add_double(histogram::kSum, made.sum);
    point.add_sint32(histogram::kScale, made.scale);
    point.add_fixed64(histogram::kZeroCount, made.zeros);
    add_buckets(point, histogram::kPositive, made.positive);
    add_buckets(point, histogram::kNegative, made.negative);
    if (exemplars_ != nullptr && row.type == TraceType::Transact)
      if (const auto longest = exemplars_->take(host_, tag.name, row.ending))
        add_exemplar(point, *longest);
  }
  note_point(points.size() - before);
}

// When the values were 0. Values that fall have begun anew since the previous sample.
std::uint64_t MetricWriter::start_of(Stream& stream, double value) const {
  if (stream.start_ns == 0)
    stream.start_ns = life_began_ns_ != 0 ? life_began_ns_ : now_ns_;
  else if (value < stream.last)
    stream.start_ns = before_ns_;
  stream.last = value;
  return stream.start_ns;
}

std::string& MetricWriter::points_of(const MetricRow& row, const Tag& tag) {
  Resource& resource = resources_[tag.service];
  const std::string unit = row.unit == kOfTag ? tag.unit : row.unit;
  return resource.try_emplace({row.name, unit}, Metric{&row, {}}).first->second.points;
}

MetricWriter::Tag* MetricWriter::tag_of(const QuantityValues& values, int instance) {
  auto& tags = tags_[index_of(values.what.type)];
  if (tags.empty() || !tags.contains(instance)) read_tags(values);
  return tags.try_emplace(instance, nullptr).first->second;  // null: has no name
}

void MetricWriter::read_tags(const QuantityValues& values) {
  const TraceType type = values.what.type;
  const pmInDom domain = values.metric.indom;
  const Instances names = read_names_(domain);
  std::map<std::string, MetricDescription> descriptions;  // the others' units are fixed
  if (type == TraceType::Observe || type == TraceType::Counter)
    descriptions = descriptions_of(domain, names);
  std::array<char, 64> unit_of_all{};
  pmUnitsStr_r(&values.metric.units, unit_of_all.data(), static_cast<int>(unit_of_all.size()));
  auto& tags = tags_[index_of(type)];
  for (const auto& [instance, name] : names) {
    if (tags.contains(instance)) continue;
    Tag& tag = tags_by_name_[{type, name}];
    tags[instance] = &tag;
    tag.name = name;
    const auto parsed = parse_dimensions(name);
    const std::string* const service = parsed ? parsed->find(kServiceLabel) : nullptr;
    tag.service = service != nullptr ? *service : agent_.service;
    const auto its = descriptions.find(name);
    tag.unit = ucum_of(its != descriptions.end() && !its->second.unit.empty() ? its->second.unit
                                                                              : unit_of_all.data());
    const Attributes attributes = attributes_of(name);
    tag.of_number = encoded(number::kAttributes, attributes);
    tag.of_histogram = encoded(histogram::kAttributes, attributes);
  }
}

void MetricWriter::note_point(std::size_t bytes) {
  bytes_ += bytes;
  ++items_;
  if (bytes_ >= kPieceBytes) finish_piece();
}

void MetricWriter::finish_piece() {
  if (items_ == 0) return;
  Piece& piece = pieces_.emplace_back();
  piece.items = std::exchange(items_, 0);
  pbf_writer request(piece.bytes);
  for (const auto& [service, metrics] : std::exchange(resources_, {})) {
    pbf_writer resource_metrics(request, kRequestResources);
    add_resource(resource_metrics,
                 {{"service.name", service}, {"service.instance.id", host_}, {"host.name", host_}});
    pbf_writer scope_metrics(resource_metrics, kScopeItems);
    add_scope(scope_metrics);
    for (const auto& [key, each] : metrics)
      add_metric(scope_metrics, *each.row, key.second, each.points, piece.bytes);
  }
  bytes_ = 0;
}

}  // namespace pcp::trace::command::otlp
