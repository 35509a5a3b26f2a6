// SPDX-License-Identifier: LGPL-2.1-or-later
// The process-wide client: shared by all threads, and the way to a thread's recorder. Made by the
// first call, never destroyed; a forked child makes its own.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "link/client_options.hpp"
#include "link/output.hpp"
#include "process/deliveries.hpp"
#include "thread/doorbell.hpp"
#include "thread/recorders.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::client {

class FlusherThread;

// Calls with labels that got the bare name's tag. Written by any thread; order nothing else.
struct LabelCounts {
  std::atomic<std::uint64_t> cut;   // too long
  std::atomic<std::uint64_t> over;  // too many
};

class Client {
 public:
  // Gives this process's client, and makes it if needed. Null if there is no memory. Thread: any.
  static Client* get();
  static Client* get_if_made();

  // Like get_if_made(), but makes one if the environment asks for diagnostics or ids: also for
  // programs that never record.
  static Client* make_if_asked();

  // Gives the client that the end of this process must wait for; null: none.
  static Client* get_to_finish();

  // Call in a forked child, before it makes its own client.
  static void close_inherited_descriptors();

  // This process's, with or without a client. Null if there is no memory.
  static LabelCounts* label_counts();

  // Starts the flusher's thread unless a thread runs it already. If that fails, one of the next
  // calls tries again. Thread: any.
  void start_flusher() { doorbell_.see_to_flusher(); }

  // Delivers all records so far, and waits for that.
  bool deliver(std::chrono::nanoseconds timeout, Deliveries::Patience patience);

  // The same as at the end of the process: waits as long as there is progress, and only with an
  // agent.
  bool deliver_patiently() {
    return deliver(options_.last_patience, Deliveries::Patience::Progress);
  }

  // The process ends: says so, and delivers patiently.
  void finish();

  // finish() for _exit(), which a signal handler may call: takes no lock, starts no thread.
  void finish_in_handler();
  bool has_flusher() const { return flusher_runs_.load(std::memory_order_relaxed); }

  const ClientOptions& options() const { return options_; }
  Deliveries& deliveries() { return deliveries_; }
  Doorbell& doorbell() { return doorbell_; }
  Recorders& recorders() { return recorders_; }
  DeliveryCounters& delivered() { return delivered_; }
  wire::ClientCounters counters();

  // Recorded calls whose delivery is not settled yet. Thread: any.
  std::uint64_t pending_calls();

 private:
  static Client* make();
  explicit Client(ClientOptions options);
  static void* run_flusher(void* client);
  bool ensure_flusher();
  bool start_thread();
  FlusherThread& flusher_thread();
  bool may_give_flusher_up();
  bool deliver_by_hand(std::uint64_t ticket, std::chrono::nanoseconds timeout,
                       Deliveries::Patience patience);

  const ClientOptions options_;
  const pid_t pid_;
  FlushersDescriptors descriptors_;
  Doorbell doorbell_;
  Recorders recorders_;
  Deliveries deliveries_;
  DeliveryCounters delivered_;

  // Set by the thread that runs the flusher, which then owns the next two. Taken by exchange, given
  // back with release.
  std::atomic<bool> flusher_runs_{false};
  FlusherThread* flusher_thread_ = nullptr;  // never destroyed
  sigset_t program_signals_{};               // the mask of the thread that started the flusher's

  bool has_connected_early_ = false;  // the agent has a connection that expects a session

  std::atomic<std::uint64_t> next_start_ns_{0};  // earliest next try; orders nothing else
};

// The calling thread's recorder. In a forked child maybe the parent's: is_alive() detects that.
extern constinit thread_local Recorder* this_recorder [[gnu::tls_model("initial-exec")]];

Recorder* find_recorder_slowly();

// Gives the calling thread's recorder; null if it has none yet.
inline Recorder* known_recorder() {
  Recorder* recorder = this_recorder;
  return recorder != nullptr && recorder->is_alive() ? recorder : nullptr;
}

// Gives the calling thread's recorder; null if there is no memory.
inline Recorder* find_recorder() {
  Recorder* recorder = known_recorder();
  return recorder != nullptr ? recorder : find_recorder_slowly();
}

// The same for a call that only records. Also null if tracing is switched off, perhaps by the
// environment: then nothing is made.
Recorder* find_recorder_unless_off_slowly();
inline Recorder* find_recorder_unless_off() {
  Recorder* recorder = known_recorder();
  return recorder != nullptr ? recorder : find_recorder_unless_off_slowly();
}

}  // namespace pcp::trace::client
