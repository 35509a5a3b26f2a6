// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a few metrics by name, and labels, in libpcp's current context.
//
// Thread: the context's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "command/pcp/sample.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

using OwnedResult = std::unique_ptr<pmResult, void (*)(pmResult*)>;

struct RecordedMetric {
  std::string name;
  pmDesc description{};
};

// "WHAT: " and PCP's message for a status.
Error pcp_error(const std::string& what, int status);

// PM_ID_NULL if unknown.
pmID lookup(const char* name);

// Appends the names of a metric, or of all below this name. Gives PCP's status.
int add_names_below(const char* name, std::vector<std::string>& names);

// The help text of a metric or a domain; `type` as in PCP's archives. Empty if there is none.
std::string help_text_of(unsigned type, unsigned of);

// PCP's library computes some metrics from others. Archives give those that were recorded another
// number.
inline constexpr unsigned kComputedDomain = 511;
inline constexpr unsigned kRecordedCluster = 2048;
inline bool is_computed(pmID id) {
  return pmID_domain(id) == kComputedDomain && (pmID_cluster(id) & kRecordedCluster) == 0;
}

// True if values of this type are numbers.
constexpr bool is_number(int type) { return type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE; }

// The context's host name, as the host gives it.
std::string host_name_of(int context);

// The value of a metric without instances; 0 if it is missing.
double read_number(const char* name);

// The value of a metric of this type without instances; nothing if there is none.
std::optional<double> double_of(const pmValueSet& set);
std::optional<std::uint32_t> u32_of(const pmValueSet& set);
std::optional<std::string> text_of(const pmValueSet& set);

// A metric's values by instance number.
std::map<int, double> read_numbers_of(const char* name);
std::map<int, std::string> read_texts_of(const char* name);

// The names of a metric's instances.
Instances instances_of(const char* name);

// Owns label sets, which PCP must free.
class OwnedLabels {
 public:
  OwnedLabels() = default;
  OwnedLabels(pmLabelSet* sets, int count) : sets_(sets), count_(count > 0 ? count : 0) {}
  OwnedLabels(OwnedLabels&& other) noexcept
      : sets_(std::exchange(other.sets_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  OwnedLabels& operator=(OwnedLabels&&) = delete;
  ~OwnedLabels() {
    if (sets_ != nullptr) pmFreeLabelSets(sets_, count_);
  }

  std::span<const pmLabelSet> all() const { return {sets_, static_cast<std::size_t>(count_)}; }

 private:
  pmLabelSet* sets_ = nullptr;
  int count_ = 0;
};

// Calls get(&sets), one of PCP's functions for labels.
template <typename Get>
OwnedLabels labels_by(Get get) {
  pmLabelSet* sets = nullptr;
  const int count = get(&sets);
  return {sets, count};
}

inline OwnedLabels labels_of_instances(pmInDom domain) {
  return labels_by([domain](pmLabelSet** sets) { return pmGetInstancesLabels(domain, sets); });
}

// The value of one label, without its quotes; empty if there is none.
std::string label_of(const pmLabelSet& set, std::string_view name);

}  // namespace pcp::trace::command
