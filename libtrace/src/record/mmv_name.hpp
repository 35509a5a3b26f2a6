// SPDX-License-Identifier: LGPL-2.1-or-later
// The first word of the metrics' names in a program's MMV file.
#pragma once

#include <algorithm>
#include <atomic>
#include <string_view>

namespace pcp::trace::client {

// Set by pmtrace_mmv(), before the environment is read. Null: the environment decides. Never freed.
inline std::atomic<const char*> mmv_name{
    nullptr};  // released by pmtrace_mmv(), acquired by the options

// True for part of a PCP metric's name that is no longer than 64 bytes.
inline bool is_mmv_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && name.size() <= kLongest && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace pcp::trace::client
