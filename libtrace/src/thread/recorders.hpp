// SPDX-License-Identifier: LGPL-2.1-or-later
// All recorders of the process in a list that only grows, and what they share.
#pragma once

#include <atomic>
#include <cstdint>

#include "thread/doorbell.hpp"
#include "thread/recorder.hpp"

namespace pcp::trace::client {

class Recorders {
 public:
  // Each recorder rings this bell, and has room for at most `capacity` records.
  Recorders(Doorbell& doorbell, std::uint32_t capacity, TraceOptions trace_options = {})
      : doorbell_(doorbell), capacity_(capacity), trace_options_(trace_options) {}

  // Gives the calling thread the recorder of an ended thread, or a new one. Null if there is no
  // memory. Thread: any, also below.
  Recorder* reuse_or_make();

  template <typename Visit>
  void for_each(Visit visit) const {
    for (Recorder* each = first_.load(); each != nullptr; each = each->next) visit(*each);
  }

  // Calls ever recorded, and how many of those went into cells.
  struct Calls {
    std::uint64_t recorded = 0;
    std::uint64_t merged = 0;
  };
  Calls calls() const;

  const OpenEntries& open_entries() const { return shared_.open_entries(); }
  BlackBox& box() { return shared_.box(); }
  SpanPool& spans() { return shared_.spans(); }
  // True if every span ever captured is delivered or known to be lost. Also in a signal handler.
  bool has_settled_spans();
  // Captured spans in memory, and those ever handed over to the flusher.
  std::uint64_t spans_in_use();
  std::uint64_t spans_handed_over();
  SlowTrees& slow_trees() { return shared_.slow_trees(); }
  PublishedCaptures& captures() { return shared_.captures(); }

  // Hides all open transactions, in all threads' tables.
  void clear_open();

 private:
  Recorder* make();

  Doorbell& doorbell_;
  const std::uint32_t capacity_;
  const TraceOptions trace_options_;
  SharedParts shared_;
  // Changed by make(), read by for_each(). Sequentially consistent: a thread joins, then reads the
  // captures; the flusher changes the captures, then reads this. See PublishedCaptures.
  std::atomic<Recorder*> first_{nullptr};
};

}  // namespace pcp::trace::client
