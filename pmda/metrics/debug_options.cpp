// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/debug_options.hpp"

#include <array>
#include <limits>
#include <sstream>

#include "metrics/parse_argument.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

namespace {

// The options that PCP 6 also takes as a number, the first one by the lowest bit. PCP 7 takes names
// only, and counts none.
using All = pmdebugoptions_t;
constexpr int All::*kNone = nullptr;
constexpr std::array kWithBits{
    &All::pdu,       &All::fetch,       &All::profile, &All::value,   &All::context,
    &All::indom,     &All::pdubuf,      &All::log,     &All::logmeta, &All::optfetch,
    &All::af,        &All::appl0,       &All::appl1,   &All::appl2,   &All::pmns,
    &All::libpmda,   &All::timecontrol, &All::pmc,     &All::derive,  &All::lock,
    &All::interp,    &All::config,      &All::pmapi,   &All::fault,   &All::auth,
    &All::discovery, &All::attr,        &All::http,    kNone,         kNone,
    &All::desperate};
constexpr std::int64_t kAllBits = std::numeric_limits<std::int32_t>::max();

}  // namespace

Result<void> add_debug_options(const std::string& options) {
  std::istringstream parts(options);
  for (std::string part; std::getline(parts, part, ',');) {
    if (const Result<std::int64_t> number = parse_number(part, 0, kAllBits)) {
      for (std::size_t i = 0; i < kWithBits.size(); ++i)
        if (kWithBits[i] != kNone && (*number >> i & 1) != 0) pmDebugOptions.*kWithBits[i] = 1;
    } else if (pmSetDebug(part == "-1" ? "all" : part.c_str()) != 0) {
      return Error{"\"" + options + "\" has an unknown debug option; `pmdbg -l` lists them all"};
    }
  }
  return {};
}

Result<void> DebugOptions::replace(const std::string& options) {
  Result<void> replaced = set(options);
  if (replaced) {
    text_ = options.empty() || options == "0" ? "none" : options;
  } else {
    static_cast<void>(set(text_));  // cannot fail: was valid before
  }
  return replaced;
}

std::int32_t DebugOptions::bits() {
  std::int32_t bits = 0;
  for (std::size_t i = 0; i < kWithBits.size(); ++i)
    if (kWithBits[i] != kNone && pmDebugOptions.*kWithBits[i] != 0) bits |= 1 << i;
  return bits;
}

Result<void> DebugOptions::set(const std::string& options) {
  pmClearDebug("all");
  if (options == "none") return {};
  return add_debug_options(options);
}

}  // namespace pcp::trace::agent
