// How the ingest thread counts. The counters have no other writer, so a plain sum will do.
#pragma once

#include <atomic>
#include <cstdint>

namespace pcp::trace::agent {

inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace pcp::trace::agent
