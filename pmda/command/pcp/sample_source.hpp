// SPDX-License-Identifier: LGPL-2.1-or-later
// Samples of a trace agent's metrics, one after the other: from an archive, or from a host.
//
// Thread: one.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "command/pcp/recorded_metrics.hpp"
#include "command/pcp/sample.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

// The values of one metric in a sample.
struct QuantityValues {
  RecordedQuantity what{};
  pmDesc metric{};
  const pmValueSet* set = nullptr;

  std::span<const pmValue> values() const;
  double number(const pmValue& value) const;          // NaN if not a number
  std::string_view text(const pmValue& value) const;  // empty if not a text
};

struct ArchiveSample {
  WallTime at{};
  bool is_mark = false;  // nothing is known of the time between the neighbouring samples
  std::string says{};    // the recorder's statement before it; or empty

  // The readable quantities, ascending; valid until the next sample is read.
  std::vector<QuantityValues> quantities;
};

// A program's description of a tag; either member may be empty.
struct MetricDescription {
  std::string unit;
  std::string text;
};

inline WallTime moment_of(const timespec& time) {
  return WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

inline WallTime moment_of(const timeval& time) {
  return WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec));
}

// Tags' names, without the numbers that an agent shows behind equal first words.
Instances without_numbers(const Instances& names);

// The descriptions of a domain's tags, by name, in PCP's current context.
std::map<std::string, MetricDescription> descriptions_of(pmInDom domain, const Instances& names);

class SampleSource {
 public:
  SampleSource() = default;
  SampleSource(SampleSource&&) = default;
  SampleSource& operator=(SampleSource&&) = delete;
  virtual ~SampleSource() = default;

  // Reads the next sample. Nothing at the end.
  virtual Result<std::optional<ArchiveSample>> next() = 0;

  // True if samples omit metrics that did not change: those of `record`.
  virtual bool is_sparse() const = 0;

  virtual std::string host() const = 0;

  // Why samples may be missing at the end, known after the last one; empty: none are, or unknown.
  virtual std::string why_incomplete() const { return ""; }

  // The names of a domain's instances: at the last sample, or at any time, if that is known.
  virtual Instances instances(pmInDom domain, bool ever) const = 0;

  bool has(TraceType type, Quantity quantity, Ending ending = Ending::Completed) const;
  std::string unit_of(TraceType type) const;

  // PM_INDOM_NULL: no metric of this type is known.
  pmInDom domain_of(TraceType type) const;

  // The descriptions of a type's tags at the last sample, by tag name.
  std::map<std::string, MetricDescription> descriptions(TraceType type) const;

 protected:
  struct Metric {
    RecordedQuantity what{};
    pmDesc description{};
  };

  std::vector<QuantityValues> sorted_values(const auto& result) const {
    std::vector<QuantityValues> values;
    for (const pmValueSet* const set : sets_of(result)) {
      const auto metric = metrics_.find(set->pmid);
      if (metric == metrics_.end() || set->numval < 0) continue;
      values.push_back({metric->second.what, metric->second.description, set});
    }
    std::ranges::stable_sort(values, {},
                             [](const QuantityValues& each) { return each.what.quantity; });
    return values;
  }

  std::map<pmID, Metric> metrics_;
};

}  // namespace pcp::trace::command
