// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts of calls by outcome, for pmtrace_stats and the agent. Written by the flusher, read by any
// thread. Released and acquired: a thread that reads them before the recorded calls never sees more
// settled than recorded.
#pragma once

#include <atomic>
#include <cstdint>

namespace pcp::trace::client {

class Count {
 public:
  void operator+=(std::uint64_t n) {  // one writer: no atomic addition needed
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
  operator std::uint64_t() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> value_{0};  // released by +=, acquired by whoever reads it
};

struct DeliveryCounters {
  Count sent;           // calls in batches that were sent; each once
  Count acknowledged;   // calls that the agent has counted
  Count uncertain;      // calls sent, maybe counted, maybe not
  Count undeliverable;  // calls whose tag the agent cannot take
  Count thinned;        // values in no histogram
  Count aborted;        // aborted transactions
  Count batches;
  Count reconnects;
  std::atomic<bool> connected{false};     // released after the version, acquired before it
  std::atomic<std::uint32_t> version{0};  // of the last connection
};

}  // namespace pcp::trace::client
