// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/run_zone.hpp"

#include <ctime>

#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

RunZone zone_of(const std::string& time_zone, Moment at) {
  char* ignored = nullptr;
  const int before = pmWhichZone(&ignored);
  const bool is_set = !time_zone.empty() && pmUseZone(pmNewZone(time_zone.c_str())) >= 0;
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  std::tm local{};
  if (is_set)
    pmLocaltime(&seconds, &local);
  else
    ::localtime_r(&seconds, &local);
  RunZone zone{local.tm_zone, std::chrono::seconds(local.tm_gmtoff)};
  if (is_set && before >= 0) pmUseZone(before);
  return zone;
}

}  // namespace pcp::trace::command
