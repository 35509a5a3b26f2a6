// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/ucum.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pcp::trace::command::otlp {

namespace {

using namespace std::string_view_literals;

// Words of programs and of PCP.
constexpr std::array kUnits{std::pair{"none"sv, ""sv},       std::pair{"count"sv, ""sv},
                            std::pair{"sec"sv, "s"sv},       std::pair{"second"sv, "s"sv},
                            std::pair{"seconds"sv, "s"sv},   std::pair{"millisec"sv, "ms"sv},
                            std::pair{"microsec"sv, "us"sv}, std::pair{"usec"sv, "us"sv},
                            std::pair{"msec"sv, "ms"sv},     std::pair{"nanosec"sv, "ns"sv},
                            std::pair{"nsec"sv, "ns"sv},     std::pair{"minutes"sv, "min"sv},
                            std::pair{"hours"sv, "h"sv},     std::pair{"byte"sv, "By"sv},
                            std::pair{"bytes"sv, "By"sv},    std::pair{"B"sv, "By"sv},
                            std::pair{"kB"sv, "kBy"sv},      std::pair{"MB"sv, "MBy"sv},
                            std::pair{"GB"sv, "GBy"sv},      std::pair{"Kbyte"sv, "KiBy"sv},
                            std::pair{"Mbyte"sv, "MiBy"sv},  std::pair{"Gbyte"sv, "GiBy"sv},
                            std::pair{"KiB"sv, "KiBy"sv},    std::pair{"MiB"sv, "MiBy"sv},
                            std::pair{"GiB"sv, "GiBy"sv},    std::pair{"percent"sv, "%"sv},
                            std::pair{"ratio"sv, "1"sv}};
constexpr std::array kOfUcum{""sv,     "s"sv,    "ms"sv,  "us"sv,  "ns"sv,  "min"sv, "h"sv,
                             "d"sv,    "By"sv,   "bit"sv, "kBy"sv, "MBy"sv, "GBy"sv, "KiBy"sv,
                             "MiBy"sv, "GiBy"sv, "%"sv,   "1"sv,   "m"sv,   "g"sv,   "K"sv,
                             "Cel"sv,  "V"sv,    "A"sv,   "W"sv,   "J"sv,   "Hz"sv,  "Pa"sv};

bool may_be_in_annotation(char c) { return c > ' ' && c <= '~' && c != '{' && c != '}'; }

}  // namespace

std::string ucum_of(std::string_view unit) {
  for (const auto& [word, ucum] : kUnits)
    if (unit == word) return std::string(ucum);
  if (std::find(kOfUcum.begin(), kOfUcum.end(), unit) != kOfUcum.end()) return std::string(unit);
  std::string annotation = "{";
  for (const char c : unit) annotation += may_be_in_annotation(c) ? c : '_';
  return annotation + "}";
}

}  // namespace pcp::trace::command::otlp
