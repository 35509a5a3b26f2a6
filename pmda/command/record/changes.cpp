// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/changes.hpp"

#include <cstring>
#include <functional>
#include <string_view>

namespace pcp::trace::command {

namespace {

// Spreads each bit over all bits.
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ number >> 32) * 0x9e3779b97f4a7c15;
  number = (number ^ number >> 29) * 0xbf58476d1ce4e5b9;
  return number ^ number >> 32;
}

}  // namespace

void InstanceChanges::note(int instance, pmID metric, std::uint64_t value) {
  Instance& its = instances_[instance];
  its.is_there = true;
  its.now += mixed(mixed(value) + metric);
}

void InstanceChanges::end_sample(Number sample) {
  has_newcomers_ = false;
  for (auto next = instances_.begin(); next != instances_.end();) {
    Instance& its = next->second;
    if (!its.is_there) {
      next = instances_.erase(next);
      continue;
    }
    if (its.changed == 0) has_newcomers_ = true;
    if (its.changed == 0 || its.now != its.before) its.changed = sample;
    its.before = its.now;
    its.now = 0;
    its.is_there = false;
    ++next;
  }
}

std::uint64_t value_as_number(int format, const pmValue& value) {
  if (format == PM_VAL_INSITU) return static_cast<std::uint32_t>(value.value.lval);
  const pmValueBlock& block = *value.value.pval;
  const std::size_t bytes = block.vlen - PM_VAL_HDR_SIZE;
  std::uint64_t number = 0;
  if (bytes > sizeof number) return std::hash<std::string_view>{}({block.vbuf, bytes});
  std::memcpy(&number, block.vbuf, bytes);
  return number;
}

}  // namespace pcp::trace::command
