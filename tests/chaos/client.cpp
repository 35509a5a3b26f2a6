// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chaos/client.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "chaos/random.hpp"
#include "collector/ingest/process_state.hpp"
#include "platform/forks.hpp"
#include "process/client.hpp"

#ifdef CHAOS_RESTS_AT_FORK
// In a forked child the recorders are wiped, so what its parent's recorders owned looks leaked.
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

namespace pcp::trace::chaos {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint64_t kKidCalls = 40;
constexpr std::uint64_t kCallsAfterExec = 25;

pmtrace_stats_t stats() {
  pmtrace_stats_t now;
  pmtrace_stats(&now, sizeof now);
  return now;
}

// In a traceparent header: the parent's id, and the low half of the trace's.
std::uint64_t number_at(std::size_t at, const Headers::Text& traceparent) {
  return std::strtoull(std::string(traceparent.data() + at, 16).c_str(), nullptr, 16);
}
std::uint64_t span_of(const Headers::Text& header) { return number_at(3 + 32 + 1, header); }
std::uint64_t trace_of(const Headers::Text& header) { return number_at(3 + 16, header); }

// Makes random calls, and records them in the ledger.
class Worker {
 public:
  Worker(const ClientPlan& plan, Ledger& ledger, std::uint64_t stream)
      : plan_(plan),
        ledger_(ledger),
        account_(ledger.accounts[plan.number]),
        random_(plan.seed, stream) {}

  void burst(std::size_t number_of_workers, std::size_t own_number) {
    longest_ = {};
    const long waits = own_waits();
    for (std::uint64_t i = random_.between(1, 100); i > 0; --i) {
      std::size_t tag = random_.between(0, kPlainTags - 1);
      const TraceType type = kTraceTypes[random_.between(0, kTraceTypes.size() - 1)];
      // A counter's last value is known only if a single thread sets it.
      if (type == TraceType::Counter && !is_added_to(tag) &&
          (plan_.threads_come_and_go || tag % number_of_workers != own_number))
        continue;
      call(tag, type);
    }
    if (plan_.is_watched) {
      const std::size_t asked = random_.between(0, kAskedTags - 1);
      tree(asked, kFirstAskedTag + asked, kInnerTag);
    }
    raise(account_.longest_call_ns);
    if (own_waits() != waits) raise(account_.longest_wait_ns);
  }

  void call(std::size_t tag, TraceType type) {
    const std::string name = tag_name(plan_.number, tag);
    const bool by_name = random_.chance(50);
    const pmtrace_handle handle = by_name ? nullptr : pmtrace_tag(name.c_str());
    Cell& cell = account_.cell(tag, type);
    switch (type) {
      case TraceType::Point:
        return record(cell, {1, 0, 0},
                      [&] { by_name ? pmtracepoint(name.c_str()) : pmtrace_point(handle); });
      case TraceType::Observe: {
        const std::uint64_t value = random_.between(1, 100);
        const auto number = static_cast<double>(value);
        return record(cell, {1, 0, value}, [&] {
          by_name ? pmtraceobs(name.c_str(), number) : pmtrace_observe(handle, number);
        });
      }
      case TraceType::Counter: {
        if (is_added_to(tag)) return increment(cell, name);
        const auto number = static_cast<double>(cell.begun.count + 1);
        return record(cell, {1, 0, 0}, [&] {
          by_name ? pmtracecounter(name.c_str(), number) : pmtrace_count(handle, number);
        });
      }
      case TraceType::Transact:
        return transaction(cell, name, handle);
    }
  }

  // A transaction that monitors may capture, with others inside it.
  void tree(std::size_t asked, std::size_t top, std::size_t inner) {
    if (account_.spans.used + kMostInTree > SpanLedger::kMost) return;
    const std::uint32_t first = account_.spans.used.fetch_add(kMostInTree);
    if (first + kMostInTree > SpanLedger::kMost) return;
    room_ = account_.spans.entries.data() + first;
    branch(asked, top, inner, nullptr, random_.between(0, kDeepest));
  }

  // This worker now is a forked child's, which knows of no capture.
  void become_child(std::size_t number) {
    process_ = static_cast<std::uint8_t>(1 + number);
    knows_ = {};
  }

  Random& random() { return random_; }

 private:
  static constexpr std::uint32_t kDeepest = 3;
  static constexpr std::uint32_t kMostInTree = 1 + 2 * kDeepest;

  void branch(std::size_t asked, std::size_t tag, std::size_t inner, const SpanEntry* parent,
              std::uint64_t depth) {
    const std::string name = tag_name(plan_.number, tag);
    const pmtrace_handle handle = pmtrace_tag(name.c_str());
    pmtrace_tx open;
    Headers::Text header{};
    const bool may_come_in = asked == kWhole && parent == nullptr && random_.chance(60);
    if (may_come_in) header = headers().read();
    const bool comes_in = header[0] != 0;
    timed([&] {
      comes_in ? pmtrace_begin_from(handle, &open, header.data(), nullptr)
               : pmtrace_begin(handle, &open);
    });
    SpanEntry* entry = nullptr;
    if (pmtrace_is_captured(&open) == 1) {
      std::uint64_t above = parent != nullptr ? parent->id.load() : 0;
      if (comes_in) above = span_of(header);
      pmtrace_context(&open, header.data(), header.size());
      entry = note_captured(asked, header, above);
      if (asked == kWhole && random_.chance(60)) headers().write(header);
    } else {
      note_not_captured(asked);
    }
    if (depth > 0) {
      branch(asked, inner, inner, entry, depth - 1);
      if (random_.chance(50)) leaf_by_name(asked, inner, entry);
    }
    Cell& cell = account_.cell(tag, TraceType::Transact);
    const bool fails = random_.chance(asked == kWhole ? 5 : 25);
    if (fails)
      record(cell, {0, 1, 0}, [&] { pmtrace_abort(&open); });
    else
      record(cell, {1, 0, 0}, [&] { pmtrace_end(&open); });
    if (entry == nullptr) return;
    entry->has_failed = fails;
    entry->has_ended = true;
  }

  void leaf_by_name(std::size_t asked, std::size_t tag, const SpanEntry* parent) {
    const std::string name = tag_name(plan_.number, tag);
    timed([&] { pmtracebegin(name.c_str()); });
    SpanEntry* entry = nullptr;
    Headers::Text header{};
    if (parent != nullptr) pmtrace_context(nullptr, header.data(), header.size());
    if (parent != nullptr && span_of(header) != parent->id)
      entry = note_captured(asked, header, parent->id);
    else
      note_not_captured(asked);
    record(account_.cell(tag, TraceType::Transact), {1, 0, 0}, [&] { pmtraceend(name.c_str()); });
    if (entry != nullptr) entry->has_ended = true;
  }

  Headers& headers() { return ledger_.headers[random_.between(0, Ledger::kHeaders - 1)]; }

  SpanEntry* note_captured(std::size_t asked, const Headers::Text& header, std::uint64_t parent) {
    SpanEntry& entry = *room_++;
    entry.parent = parent;
    entry.trace = trace_of(header);
    entry.asked = static_cast<std::uint8_t>(asked);
    entry.process = process_;
    entry.id = span_of(header);
    knows_[asked] = true;
    return &entry;
  }

  void note_not_captured(std::size_t asked) {
    NotCaptured& count = account_.spans.not_captured[process_][asked];
    ++(knows_[asked] ? count.knowing : count.perhaps);
  }

  void transaction(Cell& cell, const std::string& name, pmtrace_handle handle) {
    pmtrace_tx open;
    timed([&] { handle ? pmtrace_begin(handle, &open) : pmtracebegin(name.c_str()); });
    if (random_.chance(25))
      record(cell, {0, 1, 0}, [&] { handle ? pmtrace_abort(&open) : pmtraceabort(name.c_str()); });
    else
      record(cell, {1, 0, 0}, [&] { handle ? pmtrace_end(&open) : pmtraceend(name.c_str()); });
  }

  void increment(Cell& cell, const std::string& name) {
    const std::uint64_t value = random_.between(0, 100);
    const pmtrace_handle handle = pmtrace_tag(name.c_str());
    record(cell, {1, 0, value}, [&] { pmtrace_add(handle, static_cast<double>(value)); });
  }

  template <typename Call>
  void record(Cell& cell, const Amount& amount, Call make) {
    cell.begun.add(amount);
    timed(make);
    cell.done.add(amount);
  }

  template <typename Call>
  void timed(Call make) {
    const auto before = Clock::now();
    make();
    longest_ = std::max(longest_, Clock::now() - before);
  }

  void raise(std::atomic<std::uint64_t>& longest) {
    const auto mine = static_cast<std::uint64_t>(longest_.count());
    std::uint64_t known = longest;
    while (known < mine && !longest.compare_exchange_weak(known, mine)) continue;
  }

  // Voluntary context switches of this thread: waits, without preemption.
  static long own_waits() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  }

  const ClientPlan& plan_;
  Ledger& ledger_;
  Account& account_;
  Random random_;
  std::chrono::nanoseconds longest_{0};
  SpanEntry* room_ = nullptr;
  std::uint8_t process_ = 0;
  std::array<bool, kAskedTags> knows_{};  // of the capture of each asked tag
};

class Program {
 public:
  Program(const ClientPlan& plan, Ledger& ledger)
      : plan_(plan), ledger_(ledger), account_(ledger.accounts[plan.number]) {}

  [[noreturn]] void run() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // so that clients do not outlive the test
    set_environment();
    // The first call by name waits for the first connection, and starts the flusher: the address
    // sanitizer's allocator does not survive a fork while another thread starts.
    Cell& first = account_.cell(0, TraceType::Point);
    first.begun.add({1, 0, 0});
    pmtracepoint(tag_name(plan_.number, 0).c_str());
    first.done.add({1, 0, 0});
    pmtrace_flush(0.001);
    for (std::size_t i = 0; i < plan_.threads; ++i) threads_.emplace_back([this, i] { work(i); });
    while (started_ < plan_.threads) std::this_thread::yield();

    const auto end = Clock::now() + plan_.fate_after;
    while (!ledger_.stop && (plan_.fate == Fate::Finish || Clock::now() < end)) {
      if (plan_.threads == 0) main_.burst(1, 0);
      cover();
      answer_round();
      if (kids_.size() < plan_.kids) fork_kid();
      // load: a program pauses
      std::this_thread::sleep_for(milliseconds(main_.random().between(0, 30)));
    }
    if (plan_.fate != Fate::Finish) leave();
    finish();
  }

 private:
  void set_environment() {
    const auto set = [](const char* name, const std::string& value) {
      ::setenv(name, value.c_str(), 1);
    };
    ::unsetenv("PCP_TRACE_SOCKET");
    if (plan_.socket_path.empty()) {
      set("PCP_TRACE_HOST", "127.0.0.1");
      set("PCP_TRACE_PORT", std::to_string(plan_.port));
    } else {
      set("PCP_TRACE_SOCKET", plan_.socket_path);
    }
    set("PCP_TRACE_TIMEOUT", std::to_string(plan_.patience().count()));
    set("PCP_TRACE_LINGER", std::to_string(plan_.patience().count()));
    client::fork_patience = plan_.patience();
    set("PCP_TRACE_RECONNECT", plan_.has_long_pauses ? "300" : "0.02,0.05");
    set("PCP_TRACE_FLUSH", std::to_string(plan_.flush_ms));
    set("PCP_TRACE_QUEUE", std::to_string(plan_.queue));
    if (plan_.holds_little) set("PCP_TRACE_HOLD", "65536");
  }

  void work(std::size_t number) {
    Worker worker(plan_, ledger_, 1 + number);
    burst(worker, number);
    ++started_;
    while (!ledger_.stop) {
      // load: a thread pauses
      std::this_thread::sleep_for(milliseconds(worker.random().between(0, 12)));
      burst(worker, number);
    }
  }

  void burst(Worker& worker, std::size_t number) {
#ifdef CHAOS_RESTS_AT_FORK
    const std::shared_lock work(at_work_);
#endif
    if (plan_.threads_come_and_go) try {
        return std::thread([&] { worker.burst(plan_.threads, number); }).join();
      } catch (const std::system_error&) {  // the kernel begins none while another one calls exec
      }
    worker.burst(plan_.threads, number);
  }

  // Moves this process's calls to `covered` if the agent has acknowledged all of them.
  void cover() {
    std::array<std::array<Amount, kTraceTypes.size()>, kCommonTags> before;
    for_each_cell([&](std::size_t tag, std::size_t type, const Cell& cell) {
      before[tag][type] = cell.done;
    });
    if (!is_delivered()) return;
    for_each_cell([&](std::size_t tag, std::size_t type, Cell& cell) {
      cell.covered.set(before[tag][type]);
    });
  }

  bool is_delivered() {
    if (plan_.threads > 0) return pmtrace_flush(0.02) == 1;
    // Without a flush: the library delivers by itself.
    for (int i = 0; i < 20; ++i) {
      if (const pmtrace_stats_t now = stats(); now.acknowledged == now.recorded) return true;
      std::this_thread::sleep_for(milliseconds(1));  // poll: all is acknowledged
    }
    return false;
  }

  template <typename Visit>
  void for_each_cell(Visit visit) {
    for (std::size_t tag = 0; tag < kCommonTags; ++tag)
      for (std::size_t type = 0; type < kTraceTypes.size(); ++type)
        visit(tag, type, account_.cells[tag][type]);
  }

  void answer_round() {
    const std::uint32_t round = ledger_.round;
    if (account_.round == round) return;
    account_.acknowledged_before = stats().acknowledged;
    account_.round = round;
  }

  void fork_kid() {
    const std::size_t number = kids_.size();
    const pid_t parent = ::getpid();
#ifdef CHAOS_RESTS_AT_FORK
    const std::unique_lock rest(at_work_);
    // poll: the library's thread rests as well
    while (agent::is_another_thread_busy()) std::this_thread::sleep_for(milliseconds(1));
#endif
    const pid_t pid = ::fork();
    if (pid < 0) std::abort();
    if (pid > 0) {
      kids_.push_back(pid);
      account_.kids = static_cast<std::uint32_t>(kids_.size());
      return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const std::size_t tag = kFirstKidTag + number * kKidTags;
    main_.become_child(number);
    for (std::uint64_t i = 0; i < kKidCalls; ++i) {
      for (const TraceType type : kTraceTypes) main_.call(tag, type);
      if (!plan_.is_watched) continue;
      main_.tree(0, tag + 1, tag);
      // load: it pauses now and then
      if (i % 8 == 0) std::this_thread::sleep_for(milliseconds(main_.random().between(0, 8)));
    }
    if (plan_.way_out == WayOut::Flush) ::_exit(give(account_.kid_reports[number]) ? 0 : 1);
    // poll: the schedule stops
    while (!ledger_.stop) std::this_thread::sleep_for(milliseconds(5));
    for (const TraceType type : kTraceTypes) main_.call(tag, type);
    if (plan_.is_watched) main_.tree(0, tag + 1, tag);
    go(true);
  }

  // Ends this process while its threads work.
  [[noreturn]] void leave() {
    account_.is_leaving = true;
    switch (plan_.fate) {
      case Fate::Killed:
        ::raise(SIGKILL);
        break;
      case Fate::Segfault:
        ::signal(SIGSEGV, SIG_DFL);  // sanitizers have a handler
        ::raise(SIGSEGV);
        break;
      case Fate::Abort:
        ::signal(SIGABRT, SIG_DFL);
        std::abort();
      case Fate::QuickExit:
        ::_exit(0);
      case Fate::Exit:
        std::exit(0);
      case Fate::Exec:
        execute();
      case Fate::Finish:
        break;
    }
    std::abort();  // not reached
  }

  [[noreturn]] void execute() {
    Cell& cell = account_.cell(kExecTag, TraceType::Point);
    for (Numbers* numbers : {&cell.begun, &cell.done, &cell.covered})
      numbers->count = kCallsAfterExec;
    const std::string tag = tag_name(plan_.number, kExecTag);
    const std::string points = std::to_string(kCallsAfterExec);
    ::execl("/proc/self/exe", "chaos_test", kAfterExec, tag.c_str(), points.c_str(), nullptr);
    std::abort();
  }

  [[noreturn]] void finish() {
    const bool leaves_threads = plan_.way_out == WayOut::MainLeaves;
    for (std::thread& thread : threads_) leaves_threads ? thread.detach() : thread.join();
    bool good = plan_.way_out != WayOut::Flush || give(account_.report);
    for (const pid_t kid : kids_) {
      int status = 0;
      good &= ::waitpid(kid, &status, 0) == kid && status == 0;
    }
    if (plan_.way_out == WayOut::Flush && main_.random().chance(50)) std::exit(good ? 0 : 1);
    go(good);
  }

  // Leaves by the plan's way out.
  [[noreturn]] void go(bool good) {
    const int status = good ? 0 : 1;
    switch (plan_.way_out) {
      case WayOut::Exit:
        std::exit(status);
      case WayOut::QuickExit:
        std::quick_exit(status);
      case WayOut::MainLeaves:
        if (good) ::pthread_exit(nullptr);
        break;
      case WayOut::Flush:
      case WayOut::UnderscoreExit:
        break;
    }
    ::_exit(status);
  }

  static bool give(Report& report) {
    report.flushed = pmtrace_flush(kPatience) == 1;
    report.stats = stats();
    report.given = true;
    return report.flushed;
  }

  const ClientPlan plan_;  // a copy: if main leaves, its stack goes
  Ledger& ledger_;
  Account& account_;
  Worker main_{plan_, ledger_, 0};
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> started_{0};
  std::vector<pid_t> kids_;
#ifdef CHAOS_RESTS_AT_FORK
  std::shared_mutex at_work_;
#endif
};

}  // namespace

// On the heap: if main leaves, its stack goes.
void run_client(const ClientPlan& plan, Ledger& ledger) { (new Program(plan, ledger))->run(); }

int run_after_exec(const char* tag, std::uint64_t points) {
  for (std::uint64_t i = 0; i < points; ++i) pmtracepoint(tag);
  return pmtrace_flush(kPatience) == 1 ? 0 : 1;
}

}  // namespace pcp::trace::chaos
