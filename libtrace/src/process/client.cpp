// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/client.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <exception>
#include <thread>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "link/connection.hpp"
#include "platform/diagnostics.hpp"
#include "platform/forks.hpp"
#include "platform/guards.hpp"
#include "platform/wiped_memory.hpp"
#include "process/flusher_thread.hpp"
#include "spans/span_sender.hpp"
#include "tags/description.hpp"

namespace pcp::trace::client {

constinit thread_local Recorder* this_recorder [[gnu::tls_model("initial-exec")]] = nullptr;

namespace {

using namespace std::chrono_literals;

// Pause before the next try to make the flusher, after a lack of memory.
constexpr std::chrono::nanoseconds kPauseBeforeNewTry = 200ms;

// Pause before the next try to make the flusher's thread.
constexpr std::uint64_t kStartPauseNs = 100'000'000;

// This process's client. A forked child has zeros here, whatever the parent was doing.
struct ThisProcess {
  std::atomic<Client*> client;  // released by the thread that made it
  Mutex is_making;              // held by that thread: others sleep until it is done
  LabelCounts label_counts;
};

constinit MadeWhenNeeded<ThisProcess> this_process;

// Also in a forked child, which finds its parent's here.
std::atomic<Client*> last_client{nullptr};  // released by make(), acquired by a child or make()

pthread_key_t thread_end_key;
bool has_thread_end_key = false;  // false: recorders of ended threads are not reused

// The last delivery, at the end of the process. Priority 101: after the program's own destructors
// also in a statically linked program.
[[gnu::destructor(101)]] void finish_process() {
  if (Client* client = Client::get_to_finish()) client->finish();
}

// For quick_exit(). A signal handler may call it, although it should not.
void finish_quickly() {
  if (Client* client = Client::get_to_finish())
    client->has_flusher() ? client->finish_in_handler() : client->finish();
}

// Registered at load time, so that it runs after the program's own handlers.
[[gnu::constructor]] void prepare_quick_exit() { ::at_quick_exit(finish_quickly); }

// The forking thread's innermost transaction. The child starts in it; its recorder is wiped there.
constinit thread_local TraceContext around_fork;

// A child without any call yet is still in the transaction of its own fork.
void note_fork() {
  if (Recorder* const recorder = known_recorder())
    around_fork = recorder->trace().innermost().context;
  else
    around_fork = ::gettid() == ::getpid() && is_at_start() ? forked_in() : TraceContext{};
}

// Runs once per process image; forked children inherit the effects.
void prepare_process() {
  call_at_forks(note_fork, nullptr, [] {
    start_forked_in(around_fork);
    // The program's own handler may have traced before: then these descriptors are the child's, and
    // the parent's are already closed.
    if (Client::get_if_made() == nullptr) Client::close_inherited_descriptors();
  });
  let_flusher_rest_at_forks();
  has_thread_end_key = ::pthread_key_create(&thread_end_key, [](void* recorder) {
                         this_recorder = nullptr;
                         if (static_cast<Recorder*>(recorder)->is_alive())
                           static_cast<Recorder*>(recorder)->give_up();
                       }) == 0;
}

ClientOptions read_own_options() {
  static std::atomic<bool> complained{false};  // once, not again in each child
  const bool silent = complained.exchange(true, std::memory_order_relaxed);
  return read_environment([](const char* name) { return ::secure_getenv(name); },
                          [silent](const std::string& complaint) {
                            if (!silent) complain(complaint);
                          });
}

TraceOptions traces_of(const ClientOptions& options) {
  return {
      forked_in().is_trace() ? forked_in() : start_trace(options.traceparent, options.tracestate),
      options.always_ids};
}

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)),
      pid_(::getpid()),
      doorbell_([] { return get_if_made()->ensure_flusher(); }),
      recorders_(doorbell_, options_.queue_capacity, traces_of(options_)) {
  if (!options_.debug_file.empty()) send_diagnostics_to(options_.debug_file);
  add_state(options_.demanded_state() | (options_.always_ids ? kMakesIds : 0));
  set_capturing(false);  // it was the parent's, if this is a forked child
  capture_from_start(recorders_, options_);
}

Client* Client::get_if_made() {
  ThisProcess* process = this_process.find();
  return process == nullptr ? nullptr : process->client.load(std::memory_order_acquire);
}

// Totals may be wanted without an agent, too. The options know whether the name is valid.
static bool may_write_mmv() {
  return ::secure_getenv("PCP_TRACE_MMV") != nullptr ||
         mmv_name.load(std::memory_order_acquire) != nullptr;
}

// A client also prints calls, and makes ids, while tracing is switched off.
static bool is_asked_for() {
  return ::secure_getenv("PCP_TRACE_DEBUG") != nullptr ||
         ::secure_getenv("PCP_TRACE_IDS") != nullptr;
}

Client* Client::make_if_asked() {
  Client* client = get_if_made();
  if (client != nullptr || !is_asked_for()) return client;
  const NoCancellation guard;
  const ErrnoStays errno_stays;
  return get();
}

LabelCounts* Client::label_counts() {
  ThisProcess* process = this_process.find_or_make();
  return process != nullptr ? &process->label_counts : nullptr;
}

Client* Client::get_to_finish() {
  return has_state(PMTRACE_STATE_NOAGENT) ? nullptr : get_if_made();
}

Client* Client::get() {
  if (Client* client = get_if_made()) return client;
  ThisProcess* process = this_process.find_or_make();
  if (process == nullptr) return nullptr;
  const Lock lock(process->is_making);
  Client* client = process->client.load(std::memory_order_acquire);
  if (client == nullptr) process->client.store(client = make(), std::memory_order_release);
  return client;
}

// Null if there is no memory.
Client* Client::make() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  ::pthread_once(&once, prepare_process);
  close_inherited_descriptors();
  Client* client = nullptr;
  try {
    client = new Client(read_own_options());
    last_client.store(client, std::memory_order_release);
    // A child of a fork meanwhile would keep the connection, and the agent would not see its end.
    if (const TryToBlockForks meanwhile; meanwhile && !has_state(PMTRACE_STATE_NOAGENT))
      client->has_connected_early_ = connect_early(client->options_, client->descriptors_.socket);
  } catch (const std::exception&) {
  }
  return client;
}

void Client::close_inherited_descriptors() {
  Client* const parents = last_client.load(std::memory_order_acquire);
  if (parents == nullptr) return;
  parents->doorbell_.remove();
  parents->descriptors_.socket.close();
  for (OwnDescriptor& file : parents->descriptors_.mmv_files) file.close();
  parents->recorders_.box().descriptor().close();
}

// False if no thread could be made, now or within the last kStartPauseNs.
bool Client::ensure_flusher() {
  // After a ring: pairs with may_give_flusher_up().
  if (flusher_runs_.load()) return true;
  const NoCancellation guard;
  const ErrnoStays errno_stays;
  if (now_ns() < next_start_ns_.load(std::memory_order_relaxed)) return false;
  if (flusher_runs_.exchange(true)) return true;
  if (start_thread()) return true;
  next_start_ns_.store(now_ns() + kStartPauseNs, std::memory_order_relaxed);
  flusher_runs_.store(false);
  return false;
}

// Requires: the caller has set flusher_runs_. The new thread takes the flag over.
bool Client::start_thread() {
  sigset_t all;
  sigfillset(&all);
  // The new thread inherits the mask: it takes no signals.
  ::pthread_sigmask(SIG_SETMASK, &all, &program_signals_);
  const sigset_t before = program_signals_;
  pthread_t thread;
  say_flusher_is_being_made(true);
  const int error = ::pthread_create(&thread, nullptr, run_flusher, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    say_flusher_is_being_made(false);
    deliveries_.attempt_ended(-error);
    return false;
  }
  ::pthread_detach(thread);
  return true;
}

void* Client::run_flusher(void* given) {
  auto* const client = static_cast<Client*>(given);
  say_flusher_is_being_made(false);
  ::pthread_setname_np(::pthread_self(), "pcp_trace");
  run_like_any_thread();
  for (;;) {
    try {
      FlusherThread& flusher = client->flusher_thread();
      flusher.resume();
      flusher.run();  // until this is the last thread
    } catch (const std::exception& problem) {
      // No memory for the flusher. Records wait in the threads' recorders.
      client->deliveries_.attempt_ended(kNoMemoryToConnect);
      diagnose(PMTRACE_STATE_COMMS,
               [&] { return std::string("error, trying again soon: ") + problem.what(); });
      std::this_thread::sleep_for(kPauseBeforeNewTry);
      continue;
    }
    const sigset_t signals = client->program_signals_;
    if (!client->may_give_flusher_up()) continue;
    // The C library calls exit(0) here, as it would in the program's own last thread.
    ::pthread_sigmask(SIG_SETMASK, &signals, nullptr);
    return nullptr;
  }
}

// Requires: the caller has set flusher_runs_.
FlusherThread& Client::flusher_thread() {
  if (flusher_thread_ == nullptr) {
    const BlockForks meanwhile;
    flusher_thread_ = new FlusherThread(options_, {recorders_, doorbell_, deliveries_},
                                        descriptors_, delivered_, [this] { return counters(); });
  }
  return *flusher_thread_;
}

// Gives the flusher up, and takes it back if a ring came meanwhile. A caller rings first and then
// reads flusher_runs_; this does both in the opposite order, so at least one side sees the other.
// On arm64 neither a store nor poll(), which takes no lock here, keeps this order. The fence does,
// and pairs with the last fence in Doorbell::write_ring().
bool Client::may_give_flusher_up() {
  flusher_runs_.store(false);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return !doorbell_.is_rung() || flusher_runs_.exchange(true);
}

// Not inlined, even where several files are compiled as one, so that a call has none of it inside.
[[gnu::noinline]] Recorder* find_recorder_slowly() {
  const NoCancellation guard;
  const ErrnoStays errno_stays;
  Client* client = Client::get();
  if (client == nullptr) return nullptr;
  if (!has_state(PMTRACE_STATE_NOAGENT)) client->start_flusher();
  Recorder* recorder = client->recorders().reuse_or_make();
  if (recorder != nullptr && has_thread_end_key) ::pthread_setspecific(thread_end_key, recorder);
  this_recorder = recorder;
  return recorder;
}

[[gnu::noinline]] Recorder* find_recorder_unless_off_slowly() {
  if (::secure_getenv("PCP_TRACE_NOAGENT") != nullptr && !is_asked_for() && !may_write_mmv())
    add_state(PMTRACE_STATE_NOAGENT);
  return is_switched_off() ? nullptr : find_recorder_slowly();
}

bool Client::deliver(std::chrono::nanoseconds timeout, Deliveries::Patience patience) {
  const WaitInsideFork meanwhile;
  const Deliveries::Waiter waiter(deliveries_, patience);
  const std::uint64_t ticket = deliveries_.request_delivery();
  doorbell_.ring();
  return flusher_runs_.exchange(true) ? deliveries_.await(ticket, timeout, patience)
                                      : deliver_by_hand(ticket, timeout, patience);
}

// Without a flusher thread the waiting thread does its work. Requires: it has set flusher_runs_.
bool Client::deliver_by_hand(std::uint64_t ticket, std::chrono::nanoseconds timeout,
                             Deliveries::Patience patience) {
  const NoCancellation guard;
  bool delivered = false;
  try {
    flusher_thread().resume();
    delivered = deliveries_.await(ticket, timeout, patience, [this](Instant until) {
      return flusher_thread_->run_once(until);
    });
  } catch (const std::exception&) {  // no memory
  }
  flusher_runs_.store(false);
  doorbell_.see_to_flusher();  // or the next calls would wait for a missing flusher
  return delivered;
}

void Client::finish() {
  if (::getpid() != pid_) return;  // a child of vfork: the client is its parent's
  BlackBox::note_end();
  deliveries_.say_end();
  // Delivers even without pending calls if a session was opened, or an agent expects one: it must
  // be closed, or the process would look killed. The acquire pairs with the release of the last
  // flusher thread.
  if (flusher_runs_.load(std::memory_order_acquire) || flusher_thread_ != nullptr ||
      has_connected_early_ || pending_calls() > 0 || !recorders_.has_settled_spans())
    deliver_patiently();
}

void Client::finish_in_handler() {
  if (::getpid() != pid_) return;
  if (Recorder* own = known_recorder()) own->release_for_exit();
  BlackBox::note_end();
  deliveries_.say_end();
  constexpr auto kPatience = Deliveries::Patience::Progress;
  const Deliveries::Waiter waiter(deliveries_, kPatience);
  const std::uint64_t ticket = deliveries_.request_delivery();
  doorbell_.ring_only();
  if (!flusher_runs_.load(std::memory_order_relaxed)) return;  // as ensure_flusher()
  deliveries_.await(ticket, options_.last_patience, kPatience, [](Instant until) {
    const timespec pause{0, 200'000};
    ::nanosleep(&pause, nullptr);
    return steady_now() < until;
  });
}

std::uint64_t Client::pending_calls() {
  // Read settled before recorded: only recorded can grow meanwhile.
  const std::uint64_t settled = delivered_.settled();
  return recorders_.calls().recorded - settled;
}

wire::ClientCounters Client::counters() {
  wire::ClientCounters counters;
  const Recorders::Calls calls = recorders_.calls();
  counters.recorded = calls.recorded;
  counters.merged = calls.merged;
  counters.sent = delivered_.sent;
  counters.thinned = delivered_.thinned;
  counters.uncertain = delivered_.uncertain;
  counters.reconnects = delivered_.reconnects;
  counters.folded = has_folded_labels() ? wire::Folded::Some : wire::Folded::None;
  return counters;
}

}  // namespace pcp::trace::client
