// SPDX-License-Identifier: LGPL-2.1-or-later
// The output of programs without an agent, whose totals only an MMV file shows: pending calls count
// as delivered.
//
// Thread: the flusher's.
#pragma once

#include "counts/pending.hpp"
#include "link/counters.hpp"
#include "link/output.hpp"

namespace pcp::trace::client {

class NoOutput final : public Output {
 public:
  NoOutput(Pending& pending, DeliveryCounters& delivered)
      : pending_(pending), delivered_(delivered) {}

  void report_to(Listener& listener) override { listener_ = &listener; }
  void send_pending(std::uint64_t until) override {
    for (; pending_.popped() < until; pending_.pop()) {
      delivered_.sent += pending_.front().records();
      delivered_.acknowledged += pending_.front().records();
    }
  }
  bool has_settled(std::uint64_t) const override { return true; }
  bool has_told_open() const override { return true; }
  void connect() override { listener_->on_attempt_ended(0); }
  bool hurry() override { return false; }
  void say_goodbye() override {}
  void recover() override {}
  std::uint64_t next_call_ns() const override { return kNever; }
  void on_timer() override {}

 private:
  Pending& pending_;
  DeliveryCounters& delivered_;
  Listener* listener_ = nullptr;
};

}  // namespace pcp::trace::client
