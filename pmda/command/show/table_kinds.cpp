// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/table_kinds.hpp"

namespace pcp::trace::command {

std::vector<std::size_t> deal_lines(const std::vector<std::vector<std::size_t>>& tables,
                                    std::size_t lines) {
  std::vector<std::size_t> shown(tables.size());
  for (bool dealt = true; dealt;) {
    dealt = false;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      for (int turn = i == 0 ? 2 : 1; turn > 0 && shown[i] < tables[i].size(); --turn) {
        const std::size_t needed = tables[i][shown[i]];
        if (needed > lines) return shown;
        ++shown[i];
        lines -= needed;
        dealt = true;
      }
    }
  }
  return shown;
}

}  // namespace pcp::trace::command
