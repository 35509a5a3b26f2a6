// SPDX-License-Identifier: LGPL-2.1-or-later
// Builds the answer to a fetch: one set of values per metric, each in one piece of memory.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

// One metric's values. Owns their memory, so it must outlive the sending.
class ValueSet {
 public:
  ValueSet() = default;

  // Allocates room for `capacity` values.
  ValueSet(pmID pmid, int type, std::size_t capacity);

  // Makes a set with an error instead of values.
  static ValueSet failed(pmID pmid, int error);

  // Without room it adds nothing: tags that begin during a fetch wait for the next one.
  void add(int instance, const pmAtomValue& value);

  pmValueSet* get() const { return set_; }

 private:
  pmValueBlock* make_own_block(const void* value, std::size_t bytes);
  pmValueBlock* make_block(char* address, const void* value, std::size_t bytes) const;

  int type_ = PM_TYPE_UNKNOWN;
  std::size_t capacity_ = 0;
  std::unique_ptr<char[]> memory_;                // the set with its list of values
  std::unique_ptr<char[]> blocks_;                // numbers too large for the list
  std::size_t used_ = 0;                          // of blocks_
  std::vector<std::unique_ptr<char[]>> strings_;  // texts and arrays of events
  pmValueSet* set_ = nullptr;
};

// The sets of one fetch, in libpcp_pmda's form.
class FetchResult {
 public:
  // Forgets the last fetch and allocates sets for a new one.
  void begin(std::size_t metrics);

  // Call it once for each index.
  ValueSet& put(std::size_t index, ValueSet set);

  pmapi::AgentResult* get() const { return result_; }

 private:
  std::vector<ValueSet> sets_;
  std::unique_ptr<char[]> memory_;
  pmapi::AgentResult* result_ = nullptr;
};

}  // namespace pcp::trace::agent
