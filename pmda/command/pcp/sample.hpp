// SPDX-License-Identifier: LGPL-2.1-or-later
// One reading of metrics: for each its values, one per instance with a value.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

struct MetricValues {
  pmID metric = PM_ID_NULL;
  int format = PM_VAL_INSITU;   // or PM_VAL_DPTR, with pointers to the reader's memory
  std::vector<pmValue> values;  // none: no value at this time
};

using Sample = std::vector<MetricValues>;

// The names of a domain's instances, by number.
using Instances = std::map<int, std::string>;

// Calls pmGetInDom() or pmGetInDomArchive(); empty on failure.
inline Instances instances_by(int (*get)(pmInDom, int**, char***), pmInDom domain) {
  int* numbers = nullptr;
  char** names = nullptr;
  const int count = get(domain, &numbers, &names);
  Instances found;
  if (count <= 0) return found;
  for (int i = 0; i < count; ++i) found.emplace(numbers[i], names[i]);
  std::free(numbers);
  std::free(names);
  return found;
}

std::span<const pmValueSet* const> sets_of(const auto& result) {
  return {result.vset, static_cast<std::size_t>(result.numpmid)};
}

inline std::span<const pmValue> values_of(const pmValueSet& set) {
  return {set.vlist, static_cast<std::size_t>(set.numval)};
}

// For results of monitors and of agents. Skips metrics that could not be read.
Sample to_sample(const auto& result) {
  Sample sample;
  for (const pmValueSet* const set : sets_of(result)) {
    if (set->numval < 0) continue;
    const auto values = values_of(*set);
    sample.push_back({set->pmid, set->valfmt, {values.begin(), values.end()}});
  }
  return sample;
}

// Zero for each value of these metrics. Requires: values of 32 or 64 bits.
class ZeroSample {
 public:
  void add(MetricValues values) {
    for (pmValue& value : values.values) {
      if (values.format == PM_VAL_INSITU)
        value.value.lval = 0;
      else
        value.value.pval = zero_like(*value.value.pval);
    }
    sample_.push_back(std::move(values));
  }

  const Sample& sample() const { return sample_; }

 private:
  using Block = std::array<std::uint32_t, 3>;

  pmValueBlock* zero_like(const pmValueBlock& value) {
    auto* const block = reinterpret_cast<pmValueBlock*>(blocks_.emplace_back(Block{}).data());
    block->vtype = value.vtype;
    block->vlen = sizeof(Block);
    return block;
  }

  std::list<Block> blocks_;
  Sample sample_;
};

// A sample with one text.
class TextSample {
 public:
  TextSample(pmID metric, std::string_view text)
      : memory_((PM_VAL_HDR_SIZE + text.size()) / sizeof(std::uint32_t) + 1) {
    auto* const block = reinterpret_cast<pmValueBlock*>(memory_.data());
    block->vtype = PM_TYPE_STRING;
    block->vlen = (PM_VAL_HDR_SIZE + text.size()) & 0xffffff;
    text.copy(block->vbuf, text.size());
    pmValue value{};
    value.inst = static_cast<int>(PM_IN_NULL);
    value.value.pval = block;
    sample_.push_back({metric, PM_VAL_DPTR, {value}});
  }

  const Sample& sample() const { return sample_; }

 private:
  std::vector<std::uint32_t> memory_;
  Sample sample_;
};

}  // namespace pcp::trace::command
