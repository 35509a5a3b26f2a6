// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers the tags of all archives of a report. The same type and name is the same tag, whatever
// its number in an archive or on a host.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "wire/trace_type.hpp"

namespace pcp::trace::command {

class TagNames {
 public:
  using Key = std::pair<TraceType, std::string>;

  std::size_t find_or_add(TraceType type, const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(Key(type, name), keys_.size());
    if (is_new) keys_.push_back(&found->first);
    return found->second;
  }

  std::size_t size() const { return keys_.size(); }
  TraceType type(std::size_t tag) const { return keys_[tag]->first; }
  const std::string& name(std::size_t tag) const { return keys_[tag]->second; }

 private:
  std::map<Key, std::size_t> numbers_;
  std::vector<const Key*> keys_;
};

}  // namespace pcp::trace::command
