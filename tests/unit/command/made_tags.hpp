// SPDX-License-Identifier: LGPL-2.1-or-later
// Tags of a run, as a test needs them.
#pragma once

#include <string>

#include "command/run/model.hpp"

namespace pcp::trace::command {

inline Tag made_tag(TraceType type, const std::string& name, double calls) {
  Tag tag;
  tag.name = name;
  tag.type = type;
  tag.calls = calls;
  return tag;
}

// A transaction that never failed.
inline Tag made_transaction(const std::string& name, double calls) {
  Tag tag = made_tag(TraceType::Transact, name, calls);
  tag.failed = 0;
  return tag;
}

inline Tag made_transaction(const std::string& name, double calls, double mean) {
  Tag tag = made_transaction(name, calls);
  tag.sum = calls * mean;
  tag.mean = mean;
  return tag;
}

inline Tag named(Tag tag, const std::string& name) {
  tag.name = name;
  return tag;
}

}  // namespace pcp::trace::command
