// SPDX-License-Identifier: LGPL-2.1-or-later
// The totals of this process for PCP's own pmdammv, without an agent of ours: PCP_TRACE_MMV. The
// flusher feeds it from the same drain as Pending.
//
// Thread: the flusher's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "link/client_options.hpp"
#include "link/output.hpp"
#include "mmv/mmv_file.hpp"
#include "mmv/mmv_totals.hpp"

namespace pcp::trace::client {

class Mmv {
 public:
  // Null if the options ask for none.
  static std::unique_ptr<Mmv> make(const ClientOptions& options,
                                   std::array<OwnDescriptor, 2>& files);

  MmvTotals& totals() { return totals_; }

  // Brings the file up to date: after each flush, and when next_call_ns() says so.
  void publish(const OpenReport& open, std::uint64_t now_ns);
  std::uint64_t next_call_ns() const { return next_call_ns_; }

  // The process ends: removes the file. Nothing is published any more.
  void finish();

 private:
  Mmv(const ClientOptions& options, std::array<OwnDescriptor, 2>& files);
  void make_file(std::uint64_t now_ns);

  MmvTotals totals_;
  MmvFile file_;
  // The file lacks room for a value, or is gone. Unless a tag is new, the next file comes a second
  // after the last one: for each new file, readers read all files again.
  bool must_replace_ = false;
  std::uint64_t next_try_ns_ = 0;
  std::uint64_t next_check_ns_ = 0;  // whether the file is still there
  std::uint64_t touch_at_ns_ = kNever;
  std::uint64_t next_call_ns_ = kNever;
  bool has_ended_ = false;
};

}  // namespace pcp::trace::client
