// SPDX-License-Identifier: LGPL-2.1-or-later
// pmtraceerrstr.
#include <array>
#include <cstring>

#include "api/api.hpp"

namespace {

// Index: -code - PMTRACE_ERR_BASE.
constexpr std::array kTexts{
    "Invalid tag: it is NULL or empty",
    "Transaction is already in progress",
    "Transaction is not in progress",
    "Transaction tag has never begun",
    "Tag is already in use for another type of tracing",
    "Tag is too long (at most 254 bytes)",
    "Unexpected answer from the PMDA",
    "Malformed environment variable",
    "Timed out waiting for the PMDA",
    "The PMDA speaks an unknown version of the protocol",
    "Cannot connect to PMDA - permission denied",
    "Cannot connect to PMDA - connection limit reached",
};

const char* text_of(int code) {
  if (code == 0) return "No error.";
  const char* text = nullptr;
  if (code <= -PMTRACE_ERR_BASE) {
    const long index = -(static_cast<long>(code) + PMTRACE_ERR_BASE);
    if (index < static_cast<long>(kTexts.size())) text = kTexts[static_cast<std::size_t>(index)];
  } else if (code < 0) {
    text = std::strerror(-code);  // thread-safe in glibc since 2.32
  }
  return text != nullptr ? text : "Unknown error code.";
}

}  // namespace

extern "C" PMTRACE_EXPORT char* pmtraceerrstr(int code) { return const_cast<char*>(text_of(code)); }
