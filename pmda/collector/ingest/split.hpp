// SPDX-License-Identifier: LGPL-2.1-or-later
// The labels that the option --split adds to the tags of one process, as part of each tag's
// identity. A tag's own label of the same key stays.
//
// Thread: the ingest thread.
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
  // `pid`: 0 if unknown. A stock program sends no HELLO.
  void begin(const std::vector<std::string>& keys, std::uint32_t pid,
             const wire::Hello& hello = {});

  bool empty() const { return labels_.empty(); }

  // Writes the tag with the labels to `out`. False, and the unchanged tag, if the result has too
  // many bytes or labels.
  bool write(std::string_view tag, std::string& out) const;

 private:
  std::vector<std::pair<std::string, std::string>> labels_;
};

}  // namespace pcp::trace::agent
