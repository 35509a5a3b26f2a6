// SPDX-License-Identifier: LGPL-2.1-or-later
// What the option --split adds to the tags of one process: those of its labels that were asked for,
// as a part of each tag's identity. A tag that has such a label of its own keeps it.
//
// Thread: the ingest thread's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/batch.hpp"

namespace pcp::trace::agent {

class Split {
 public:
  // Of a stock program nothing is known but the pid, 0 if not even that.
  void begin(const std::vector<std::string>& keys, std::uint32_t pid,
             const wire::Hello& hello = {});

  bool empty() const { return labels_.empty(); }

  // Writes the tag with the labels to `out`. False, and the tag as it is, if that has too many
  // bytes or labels.
  bool write(std::string_view tag, std::string& out) const;

 private:
  std::vector<std::pair<std::string, std::string>> labels_;
};

}  // namespace pcp::trace::agent
