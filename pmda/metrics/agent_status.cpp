// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/agent_status.hpp"

#include <unistd.h>

#include <fstream>

namespace pcp::trace::agent {

std::uint64_t resident_bytes() {
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace pcp::trace::agent
