// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/rfc3339.hpp"

#include <array>
#include <cstdio>
#include <ctime>

namespace pcp::trace::command {

std::string rfc3339(std::chrono::sys_time<std::chrono::nanoseconds> moment) {
  const auto since_1970 = moment.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_1970);
  const auto time = static_cast<std::time_t>(seconds.count());
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 16> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%09lldZ",
                static_cast<long long>((since_1970 - seconds).count()));
  return std::string(date.data()) + fraction.data();
}

}  // namespace pcp::trace::command
