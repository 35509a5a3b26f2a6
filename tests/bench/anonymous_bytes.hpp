// SPDX-License-Identifier: LGPL-2.1-or-later
// Resident memory of this process that no file backs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace bench {

inline std::uint64_t anonymous_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;) {
    if (word != "Anonymous:") continue;
    std::uint64_t kib = 0;
    rollup >> kib;
    return kib * 1024;
  }
  std::perror("smaps_rollup");
  std::exit(1);
}

}  // namespace bench
