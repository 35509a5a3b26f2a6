// SPDX-License-Identifier: LGPL-2.1-or-later
// The captures in progress: the transactions and events that somebody asked the agent to show one
// by one. The flusher publishes a set of filters, each with its own bit. Threads read the set while
// the state flag kCapturing is set.
//
// A set never changes. A new set replaces it, and the old set is freed when no thread reads it any
// more. Each set has an epoch. A bit from an earlier epoch is still valid if it meant the same
// filter then.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "platform/state.hpp"
#include "spans/black_box.hpp"
#include "spans/span_limit.hpp"
#include "tags/tag_registry.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::client {

using wire::CaptureBits;
using wire::for_each_bit;

// Built by the flusher; then any thread may read.
class CaptureSet {
 public:
  using Epoch = std::uint32_t;

  // An empty set. Every set of this process and of the processes it was forked from has a different
  // epoch. Notes in the box, if there is one, tags that may have spans: those that begin, when they
  // are looked up, and others; and what is missed.
  explicit CaptureSet(std::uint64_t control, BlackBox* box = nullptr);

  // `since`: the first epoch with this filter; 0: this set's. Throws if there is no memory.
  // Requires: the bit is free.
  void add(const wire::Capture& capture, const wire::CaptureFilter& filter,
           std::uint32_t most_a_second, Epoch since);

  // Continues the limit of an earlier set with this filter.
  void go_on_from(const CaptureSet& before, std::size_t bit);

  // Counts there from now on, like other sets with this capture.
  void count_in(std::size_t bit, std::shared_ptr<wire::box::Missed> missed) {
    asked_[bit].missed = std::move(missed);
  }

  // The tag may have spans, although it does not begin.
  void note(const Tag& tag) const { matching(tag); }

  // The agent tells other processes which traces are wanted.
  void set_relayed() { is_relayed_ = true; }

  Epoch epoch() const { return epoch_; }
  std::uint64_t control() const { return control_; }  // the agent's number
  CaptureBits bits() const { return bits_; }

  struct Capture {
    std::uint64_t id = 0;
    Epoch since = 0;
    wire::CaptureFilter filter;
    std::uint64_t share = 0;  // of trace ids, in parts of 2^56
    mutable SpanLimit limit;
    // Any thread counts; orders nothing else.
    std::shared_ptr<wire::box::Missed> missed{};
  };
  const Capture& at(std::size_t bit) const { return asked_[bit]; }

  // Returns those of `bits`, set in `epoch` (its low 16 bits), that still mean the same filter.
  CaptureBits valid_bits(CaptureBits bits, std::uint16_t epoch) const {
    bits &= bits_;
    const bool are_of_this = static_cast<std::uint16_t>(epoch_) == epoch;
    return bits == 0 || are_of_this ? bits : valid_since(bits, epoch);
  }

  // The captures whose filter matches this tag. Cached in the tag.
  CaptureBits matching(const Tag& tag) const {
    const std::uint64_t known = tag.captured_by.load(std::memory_order_relaxed);
    return known >> 32 == epoch_ ? static_cast<CaptureBits>(known) : look_up(tag);
  }

  // Returns the captures in `bits` that admit this top transaction. Counts a miss for each one over
  // its limit, and adds it to `left_out`.
  CaptureBits admit(CaptureBits bits, std::uint64_t trace_low, CaptureBits& left_out) const;

  // Captures with slower= or another reason: they keep a whole trace or nothing. No limit applies
  // before that is decided. A transaction is called slow if it has all the reasons: so a fast one
  // that failed is slow for the word failed.
  CaptureBits slow() const { return slow_; }
  // Those that also want traces because of other processes.
  CaptureBits relayed() const { return is_relayed_ ? slow_ : 0; }
  // Those of `bits`, all of slow(), for which this duration and these reasons are enough.
  CaptureBits slow_ones(CaptureBits bits, std::uint64_t duration_ns, std::uint32_t reasons) const {
    CaptureBits slow = 0;
    for_each_bit(bits, [&](std::size_t bit) {
      const wire::CaptureFilter& filter = asked_[bit].filter;
      if (duration_ns >= filter.slower_ns && (filter.reasons & ~reasons) == 0)
        slow |= CaptureBits{1} << bit;
    });
    return slow;
  }

  // Counts one span or event against each capture's limit, except captures with slower=.
  void count(CaptureBits bits, std::uint64_t now_ns) const;
  void miss_for_want_of_room(CaptureBits bits, std::uint64_t spans = 1) const;
  void miss_for_limit(CaptureBits bits) const;

  // True if the capture has ever missed anything.
  bool has_missed(std::size_t bit) const;

  // The captures whose filter wants events of this kind.
  CaptureBits matching(wire::SpanKind kind) const;

 private:
  CaptureBits valid_since(CaptureBits bits, std::uint16_t epoch) const;
  CaptureBits look_up(const Tag& tag) const;

  const Epoch epoch_;
  const std::uint64_t control_;
  BlackBox* const box_;
  bool is_relayed_ = false;
  CaptureBits bits_ = 0;
  CaptureBits slow_ = 0;
  CaptureBits points_ = 0;
  CaptureBits observations_ = 0;
  CaptureBits counters_ = 0;
  std::array<Capture, wire::kMaxCaptures> asked_;
};

// Counts the begins and ends of a thread's reads of the sets. Odd: it is reading. A begin is
// sequentially consistent with note_readers(), an end is released for retire().
using CaptureReads = std::atomic<std::uint64_t>;

class PublishedCaptures {
 public:
  // Thread: the flusher's. Publishes a set; null: nothing is captured. The previous set is kept.
  // Throws if there is no memory, with nothing changed.
  void publish(std::unique_ptr<const CaptureSet> set);
  const CaptureSet* published() const { return owned_.get(); }

  // True if the published set does not match this tag, as its last traced begin cached. Thread:
  // any.
  bool is_unmatched(const Tag& tag) const {
    return tag.captured_by.load(std::memory_order_relaxed) ==
           std::uint64_t{epoch_.load(std::memory_order_relaxed)} << 32;
  }

  // Notes which threads are reading: only these may read the earlier sets. `for_each_thread` gives
  // the counts of all threads. It is called here, after publish(), so a thread that it does not
  // know yet finds the new set. Throws if there is no memory: call it again.
  template <typename ForEachThread>
  void note_readers(ForEachThread for_each_thread) {
    for (Before& before : before_) {
      if (before.is_noted) continue;
      before.readers.clear();
      for_each_thread([&](const CaptureReads& reads) {
        if (const std::uint64_t now = reads.load(); now % 2 == 1)
          before.readers.push_back({&reads, now});
      });
      before.is_noted = true;
    }
  }

  // Frees each earlier set that no thread reads any more.
  void retire() {
    std::erase_if(before_, [](Before& before) {
      std::erase_if(before.readers,
                    [](const ActiveReader& each) { return each.reads->load() != each.then; });
      return before.is_noted && before.readers.empty();
    });
  }
  std::size_t unretired() const { return before_.size(); }

  // Access to the published set while this object lives; may be empty.
  class Reader {
   public:
    // Both sides write and then read, with seq_cst: either this thread sees the new set, or
    // note_readers() sees that this thread is reading.
    Reader(const PublishedCaptures& captures, CaptureReads& reads)
        : reads_(reads), now_(reads.load(std::memory_order_relaxed) + 1) {
      reads_.exchange(now_);
      set_ = captures.current_.load();
    }
    ~Reader() { reads_.store(now_ + 1, std::memory_order_release); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    explicit operator bool() const { return set_ != nullptr; }
    const CaptureSet* operator->() const { return set_; }
    const CaptureSet& operator*() const { return *set_; }

   private:
    CaptureReads& reads_;
    const std::uint64_t now_;
    const CaptureSet* set_;
  };

 private:
  struct ActiveReader {
    const CaptureReads* reads;
    std::uint64_t then;
  };
  struct Before {
    std::unique_ptr<const CaptureSet> set;
    std::vector<ActiveReader> readers{};
    bool is_noted = false;
  };

  // Written by publish() before note_readers() reads the counts, and read by Reader after it wrote
  // its own: sequentially consistent.
  std::atomic<const CaptureSet*> current_{nullptr};
  std::atomic<CaptureSet::Epoch> epoch_{0};  // of the last set; orders nothing else
  std::unique_ptr<const CaptureSet> owned_;
  std::vector<Before> before_;
};

}  // namespace pcp::trace::client
