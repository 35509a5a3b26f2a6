// SPDX-License-Identifier: LGPL-2.1-or-later
// The process-wide client: what all threads share, and the way to one's own recorder. Made by the
// first call, never destroyed; a forked child makes its own.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "delivery/counters.hpp"
#include "delivery/options.hpp"
#include "process/link.hpp"
#include "record/doorbell.hpp"
#include "record/recorders.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::client {

class FlusherLoop;

// Tags asked for with labels that got their bare name. Written by any thread; each stands for
// itself.
struct LabelCounts {
  std::atomic<std::uint64_t> cut;   // too long
  std::atomic<std::uint64_t> over;  // too many
};

class Client {
 public:
  // Gives this process's client, and makes it if need be. Null if there is no memory. Thread: any.
  static Client* get();
  static Client* get_if_made();

  // The same, but makes one if the environment asks for diagnostics or ids: a program that does not
  // get as far as to record anything has these, too.
  static Client* make_if_asked();

  // Gives the client whose calls the end of this process has to wait for; null if there is none.
  static Client* get_to_finish();

  // Of this process, whether it has a client or not. Null if there is no memory.
  static LabelCounts* label_counts();

  // Starts the flusher's thread unless somebody runs the flusher already. If that fails, one of the
  // next calls tries again. Thread: any.
  void start_flusher() { doorbell_.see_to_flusher(); }

  // Has all that was recorded delivered, and waits for it.
  bool deliver(std::chrono::nanoseconds timeout, Link::Patience patience);

  // The same at the end of the process: as long as there is progress, and only if there is an
  // agent.
  void finish();

  // How long an end waits without progress. A test may set more.
  static inline constinit std::chrono::nanoseconds last_patience = std::chrono::seconds(1);

  // The same for _exit(), which a signal handler may call: takes no lock, starts no thread.
  void finish_in_handler();
  bool has_flusher() const { return flusher_runs_.load(std::memory_order_relaxed); }

  const Options& options() const { return options_; }
  Link& link() { return link_; }
  Doorbell& doorbell() { return doorbell_; }
  Recorders& recorders() { return recorders_; }
  DeliveryCounters& delivered() { return delivered_; }
  wire::ClientCounters counters();

  // Calls recorded of which nobody knows yet what becomes of them. Thread: any.
  std::uint64_t pending_calls();
  // Whether what was captured is delivered, or known to be lost. Thread: any.
  bool has_settled_spans();

 private:
  static Client* make();
  explicit Client(Options options);
  static void* run_flusher(void* client);
  bool ensure_flusher();
  bool start_thread();
  FlusherLoop& flusher_loop();
  bool may_give_flusher_up();
  bool deliver_by_hand(std::uint64_t ticket, std::chrono::nanoseconds timeout,
                       Link::Patience patience);

  const Options options_;
  const pid_t pid_;
  Doorbell doorbell_;
  Recorders recorders_;
  Link link_;
  DeliveryCounters delivered_;

  // Whoever sets it runs the flusher, and owns the next two: taken by exchange, given back with
  // release.
  std::atomic<bool> flusher_runs_{false};
  FlusherLoop* flusher_loop_ = nullptr;  // never destroyed
  sigset_t program_signals_{};           // the mask of the thread that started the flusher's

  std::atomic<std::uint64_t> next_start_ns_{0};  // when to try again; stands for itself
};

// The calling thread's recorder. In a forked child it may be the parent's, which is_alive() tells.
extern constinit thread_local Recorder* this_recorder [[gnu::tls_model("initial-exec")]];

Recorder* find_recorder_slowly();

// Gives the calling thread's recorder if it has one already.
inline Recorder* known_recorder() {
  Recorder* recorder = this_recorder;
  return recorder != nullptr && recorder->is_alive() ? recorder : nullptr;
}

// Gives the calling thread's recorder; null if there is no memory for one.
inline Recorder* find_recorder() {
  Recorder* recorder = known_recorder();
  return recorder != nullptr ? recorder : find_recorder_slowly();
}

// The same for a call that only records. Null, too, where tracing is switched off, as the
// environment may say: then there is nothing to make.
Recorder* find_recorder_unless_off_slowly();
inline Recorder* find_recorder_unless_off() {
  Recorder* recorder = known_recorder();
  return recorder != nullptr ? recorder : find_recorder_unless_off_slowly();
}

}  // namespace pcp::trace::client
