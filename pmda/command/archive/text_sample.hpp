// SPDX-License-Identifier: LGPL-2.1-or-later
// A sample with one text.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "command/archive/sample.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

class TextSample {
 public:
  TextSample(pmID metric, std::string_view text)
      : memory_((PM_VAL_HDR_SIZE + text.size()) / sizeof(std::uint32_t) + 1) {
    auto* const block = reinterpret_cast<pmValueBlock*>(memory_.data());
    block->vtype = PM_TYPE_STRING;
    block->vlen = (PM_VAL_HDR_SIZE + text.size()) & 0xffffff;
    std::memcpy(block->vbuf, text.data(), text.size());
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
