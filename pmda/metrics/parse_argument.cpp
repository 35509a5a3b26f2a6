// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/parse_argument.hpp"

#include <netdb.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "wire/dimensions.hpp"

namespace pcp::trace::agent {

namespace {

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

Result<std::int64_t> parse_number(const std::string& text, std::int64_t least, std::int64_t most) {
  char* rest = nullptr;
  errno = 0;
  const std::int64_t number = std::strtoll(text.c_str(), &rest, 10);
  if (text.empty() || *rest != '\0' || errno != 0 || number < least || number > most) {
    return Error{in_quotes(text) + " is not a whole number from " + std::to_string(least) + " to " +
                 std::to_string(most)};
  }
  return number;
}

Result<std::uint16_t> parse_port(const std::string& text) {
  constexpr auto kLargest = std::numeric_limits<std::uint16_t>::max();
  const Result<std::int64_t> number = parse_number(text, 1, kLargest);
  if (number) return static_cast<std::uint16_t>(*number);
  if (const servent* const service = getservbyname(text.c_str(), "tcp")) {
    return ntohs(static_cast<std::uint16_t>(service->s_port));
  }
  return Error{in_quotes(text) + " is neither a port number, 1 to " + std::to_string(kLargest) +
               ", nor the name of a TCP service"};
}

Result<Duration> parse_period(const std::string& text) {
  constexpr std::chrono::seconds kLongest = std::chrono::hours(24 * 366);
  Error invalid{in_quotes(text) +
                " is not a time interval above zero and up to a year, as in 30sec or 500msec"};
  timespec interval{};
  char* message = nullptr;
  if (pmapi::parse_interval(text.c_str(), &interval, &message) < 0) {
    std::free(message);
    return invalid;
  }
  // PCP takes NaN, which becomes another interval on each kind of processor.
  if (std::isnan(std::strtod(text.c_str(), nullptr))) return invalid;
  // PCP turns too large intervals into negative ones.
  const Duration period = interval.tv_sec >= 0 && interval.tv_sec <= kLongest.count()
                              ? std::chrono::seconds(interval.tv_sec) + Duration(interval.tv_nsec)
                              : Duration::zero();
  if (period <= Duration::zero()) return invalid;
  return period;
}

Result<std::vector<std::string>> parse_keys(const std::string& text) {
  std::vector<std::string> keys = split(text, ',');
  if (keys.size() > kMaxDimensions)
    return Error{in_quotes(text) + " has more than " + std::to_string(kMaxDimensions) + " labels"};
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!is_dimension_key(keys[i]))
      return Error{in_quotes(keys[i]) +
                   " is not service, pid, or the name of a label that a program " +
                   "may give: a small letter, then small letters, digits and underscores"};
    if (i > 0 && keys[i] == keys[i - 1]) return Error{in_quotes(keys[i]) + " is given twice"};
  }
  return keys;
}

Result<pmUnits> parse_units(const std::string& text) {
  struct Part {
    const char* name;
    int least;
    int most;
  };
  static constexpr std::array kParts{Part{"space dimension", -8, 7},
                                     Part{"time dimension", -8, 7},
                                     Part{"count dimension", -8, 7},
                                     Part{"space scale", PM_SPACE_BYTE, PM_SPACE_YBYTE},
                                     Part{"time scale", PM_TIME_NSEC, PM_TIME_HOUR},
                                     Part{"count scale", -8, 7}};

  const std::vector<std::string> texts = split(text, ',');
  if (texts.size() != kParts.size()) {
    return Error{in_quotes(text) + " has " + std::to_string(texts.size()) +
                 " of the six comma-separated integers: dimension in space, time and count, then "
                 "scale of space, time and count"};
  }
  std::array<int, kParts.size()> numbers{};
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const Result<std::int64_t> number = parse_number(texts[i], kParts[i].least, kParts[i].most);
    if (!number)
      return Error{std::string(kParts[i].name) + " in " + in_quotes(text) + ": " +
                   number.error().message};
    numbers[i] = static_cast<int>(*number);
  }
  return pmapi::units(numbers[0], numbers[1], numbers[2], static_cast<unsigned>(numbers[3]),
                      static_cast<unsigned>(numbers[4]), numbers[5]);
}

}  // namespace pcp::trace::agent
