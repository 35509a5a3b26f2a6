// SPDX-License-Identifier: LGPL-2.1-or-later
// A host's metrics, from pmcd or an archive, as OTLP's: sums since the agent began to count,
// exponential histograms and gauges, with the tag and its labels as attributes.
//
// Thread: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "command/otlp/metric_exemplars.hpp"
#include "command/otlp/metric_rows.hpp"
#include "command/otlp/otlp_writer.hpp"
#include "command/pcp/agent_life.hpp"
#include "command/pcp/archive_source.hpp"

namespace pcp::trace::command::otlp {

class MetricWriter {
 public:
  using ReadNames = std::function<Instances(pmInDom)>;

  // `names` reads names of instances in PCP's current context. `exemplars` may be null.
  MetricWriter(std::string host, ReadNames names, MetricExemplars* exemplars)
      : host_(std::move(host)), read_names_(std::move(names)), exemplars_(exemplars) {}

  // Gives pieces of limited size.
  std::vector<Piece> write(const ArchiveSample& sample);

  // Numbers of instances, labels or units may have changed.
  void forget_names() { tags_ = {}; }

 private:
  // Points that only grow: they have the time when they were 0.
  struct Stream {
    std::uint64_t start_ns = 0;  // 0: no point yet
    double last = 0;
  };

  struct Tag {
    std::string name;  // with labels
    std::string service;
    std::string unit;
    std::string of_number;     // attributes, encoded for points of numbers
    std::string of_histogram;  // and of histograms
    std::array<Stream, std::size(kMetricRows)> streams{};
  };

  struct Metric {
    const MetricRow* row;
    std::string points;  // encoded
  };
  using Resource = std::map<std::pair<std::string_view, std::string>, Metric>;  // by name and unit

  void take_facts_of_agent(const ArchiveSample& sample);
  void write_values(const QuantityValues& values, const MetricRow& row);
  void write_number(const QuantityValues& values, const pmValue& value, const MetricRow& row,
                    Tag& tag);
  void write_histogram(std::string_view text, const MetricRow& row, Tag& tag);
  std::uint64_t start_of(Stream& stream, double value) const;
  std::string& points_of(const MetricRow& row, const Tag& tag);
  Tag* tag_of(const QuantityValues& values, int instance);
  void read_tags(const QuantityValues& values);
  void note_point(std::size_t bytes);
  void finish_piece();

  const std::string host_;
  const ReadNames read_names_;
  MetricExemplars* const exemplars_;
  AgentLife life_;
  std::uint64_t life_began_ns_ = 0;  // 0: unknown
  std::uint64_t before_ns_ = 0;      // the time of the previous sample; 0: none
  std::uint64_t now_ns_ = 0;
  std::array<std::unordered_map<int, Tag*>, kTraceTypes.size()> tags_;  // by instance
  std::map<std::pair<TraceType, std::string>, Tag> tags_by_name_;       // in this life of the agent
  // For the agent's own values. Tags without the label `service`, too, are of all programs
  // together.
  Tag agent_{.name = {}, .service = "pcp-trace", .unit = {}, .of_number = {}, .of_histogram = {}};
  std::map<std::string, Resource> resources_;  // by service
  std::size_t bytes_ = 0;                      // of their points
  std::size_t items_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace pcp::trace::command::otlp
