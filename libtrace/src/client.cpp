#include "client.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <optional>

#include "descriptors.hpp"
#include "diagnostics.hpp"
#include "flusher.hpp"
#include "no_cancellation.hpp"
#include "rest_at_fork.hpp"
#include "wiped_memory.hpp"

namespace pcp::trace::client {

constinit thread_local Recorder* this_recorder = nullptr;

namespace {

// This process's client. Zero in a forked child, whatever the parent was doing.
struct Process {
  std::atomic<Client*> client;  // released by the thread that made it
  std::atomic<bool> is_making;
};

// Set once, by whoever comes first; acquired, since the memory is fresh.
std::atomic<Process*> process_page{nullptr};

Process* find_process() {
  Process* page = process_page.load(std::memory_order_acquire);
  if (page != nullptr) return page;
  void* memory = allocate_wiped_memory(sizeof(Process));
  if (memory == nullptr) return nullptr;
  Process* fresh = new (memory) Process{};
  if (process_page.compare_exchange_strong(page, fresh, std::memory_order_acq_rel)) return fresh;
  return page;  // another thread was faster; a page is lost
}

pthread_key_t thread_end_key;
bool has_thread_end_key = false;  // else an ended thread's recorder is not used again

// Runs once per process image: its effects reach forked children by themselves.
void prepare_process() {
  close_descriptors_in_children();
  let_flusher_rest_at_forks();
  has_thread_end_key = ::pthread_key_create(&thread_end_key, [](void* recorder) {
                         this_recorder = nullptr;
                         if (static_cast<Recorder*>(recorder)->is_alive())
                           static_cast<Recorder*>(recorder)->give_up();
                       }) == 0;
}

Options read_own_options() {
  static std::atomic<bool> complained{false};  // once, not again in each child
  const bool silent = complained.exchange(true, std::memory_order_relaxed);
  return read_options([](const char* name) { return ::secure_getenv(name); },
                      [silent](const std::string& complaint) {
                        if (!silent) ::dprintf(STDERR_FILENO, "%s\n", complaint.c_str());
                      });
}

}  // namespace

Client::Client(Options options) : options_(std::move(options)), queue_(0) {
  if (options_.no_agent) add_state(PMTRACE_STATE_NOAGENT);
}

Client* Client::get_if_made() {
  Process* process = process_page.load(std::memory_order_acquire);
  return process == nullptr ? nullptr : process->client.load(std::memory_order_acquire);
}

Client* Client::get() {
  if (Client* client = get_if_made()) return client;
  Process* process = find_process();
  if (process == nullptr) return nullptr;
  if (process->is_making.exchange(true, std::memory_order_acquire)) {
    // Another thread is at it, which takes microseconds.
    Client* client;
    while ((client = process->client.load(std::memory_order_acquire)) == nullptr &&
           process->is_making.load(std::memory_order_acquire))
      ::sched_yield();
    return client;
  }
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  ::pthread_once(&once, prepare_process);
  static std::atomic<bool> had_client{false};  // this process, or one that it was forked from
  if (had_client.exchange(true, std::memory_order_relaxed)) close_inherited_descriptors();
  Client* client = nullptr;
  try {
    client = new Client(read_own_options());
  } catch (const std::exception&) {
    process->is_making.store(false, std::memory_order_release);
    return nullptr;
  }
  process->client.store(client, std::memory_order_release);
  return client;
}

void Client::start_flusher() {
  const NoCancellation guard;
  if (flusher_runs_.exchange(true, std::memory_order_relaxed)) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits it: no signal is ours
  pthread_t thread;
  const int error = ::pthread_create(&thread, nullptr, run_flusher, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    link_.attempt_ended(-error);
    flusher_runs_.store(false, std::memory_order_relaxed);
    return;
  }
  ::pthread_setname_np(thread, "pcp_trace");
  ::pthread_detach(thread);
}

void* Client::run_flusher(void* client) {
  for (;;) {
    try {
      std::optional<Flusher> flusher;
      {
        const Working now;
        flusher.emplace(*static_cast<Client*>(client));
      }
      flusher->run();
    } catch (const std::exception& problem) {
      // No memory or no descriptors for its loop. What is recorded waits in the threads' recorders.
      static_cast<Client*>(client)->link_.attempt_ended(-ENOMEM);
      diagnose(PMTRACE_STATE_COMMS,
               [&] { return std::string("starting over in a second: ") + problem.what(); });
    }
    ::sleep(1);
  }
}

Recorder* Client::make_recorder() {
  Recorder* recorder = nullptr;
  for_each_recorder([&](Recorder& each) {
    if (recorder == nullptr && each.try_take_over()) recorder = &each;
  });
  if (recorder != nullptr) return recorder;

  void* memory = allocate_wiped_memory(sizeof(Recorder));
  if (memory == nullptr) return nullptr;
  recorder = new (memory) Recorder(queue_, doorbell_, options_.queue_capacity);
  if (!recorder->is_usable()) return nullptr;
  recorder->next = recorders_.load(std::memory_order_relaxed);
  while (!recorders_.compare_exchange_weak(recorder->next, recorder, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
  return recorder;
}

Recorder* find_recorder_slowly() {
  const NoCancellation guard;
  Client* client = Client::get();
  if (client == nullptr) return nullptr;
  if (!has_state(PMTRACE_STATE_NOAGENT)) client->start_flusher();
  Recorder* recorder = client->make_recorder();
  if (recorder != nullptr && has_thread_end_key) ::pthread_setspecific(thread_end_key, recorder);
  this_recorder = recorder;
  return recorder;
}

bool Client::flush(std::chrono::nanoseconds timeout) {
  start_flusher();
  return link_.flush(timeout, false, [this] { doorbell_.ring(); });
}

void Client::finish() {
  using namespace std::chrono_literals;
  is_ending_.store(true, std::memory_order_relaxed);
  if (flusher_runs_.load(std::memory_order_relaxed))
    link_.flush(1s, true, [this] { doorbell_.ring(); });
}

wire::ClientCounters Client::counters() {
  wire::ClientCounters counters;
  for_each_recorder([&](Recorder& each) {
    counters.recorded += each.recorded();
    counters.merged += each.merged();
  });
  counters.sent = delivered_.sent;
  counters.thinned = delivered_.thinned;
  counters.uncertain = delivered_.uncertain;
  counters.reconnects = delivered_.reconnects;
  return counters;
}

}  // namespace pcp::trace::client

// The last flush, when the process ends or the library would be unloaded.
[[gnu::destructor]] static void finish_process() {
  using namespace pcp::trace::client;
  if (Client* client = Client::get_if_made();
      client != nullptr && !has_state(PMTRACE_STATE_NOAGENT))
    client->finish();
}
