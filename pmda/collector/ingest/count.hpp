// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts on the ingest thread. It is the only writer, so a plain sum suffices. The sum saturates,
// because peers may claim any number of calls.
#pragma once

#include <atomic>
#include <cstdint>

#include "wire/delta.hpp"

namespace pcp::trace::agent {

inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) {
  std::uint64_t counted = counter.load(std::memory_order_relaxed);
  add_calls(counted, more);
  counter.store(counted, std::memory_order_relaxed);
}

}  // namespace pcp::trace::agent
