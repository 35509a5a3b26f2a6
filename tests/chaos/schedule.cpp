// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chaos/schedule.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "chaos/client.hpp"
#include "chaos/judge.hpp"
#include "chaos/proxy.hpp"
#include "chaos/span_watch.hpp"
#include "stress/agent_host.hpp"

namespace pcp::trace::chaos {
namespace {

using std::chrono::milliseconds;

#ifdef CHAOS_MAIN_STAYS
constexpr WayOut kLastWayOut = WayOut::QuickExit;
#else
constexpr WayOut kLastWayOut = WayOut::MainLeaves;
#endif

Ledger& make_ledger() {
  void* memory =
      ::mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return *new (memory) Ledger;
}

// Whether a client with this fate ended as expected.
bool ended_well(Fate fate, int status) {
  const auto by_signal = [&](int signal) {
    return WIFSIGNALED(status) && WTERMSIG(status) == signal;
  };
  switch (fate) {
    case Fate::Killed:
      return by_signal(SIGKILL);
    case Fate::Segfault:
      return by_signal(SIGSEGV);
    case Fate::Abort:
      return by_signal(SIGABRT);
    case Fate::Finish:
    case Fate::QuickExit:
    case Fate::Exit:
    case Fate::Exec:
      break;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class Schedule {
 public:
  Schedule(std::uint64_t seed, bool is_watched, Figures& figures)
      : seed_(seed), random_(seed), figures_(figures), ledger_(make_ledger()) {
    if (is_watched) watch_.emplace(agent_, Random(seed, kWatchStream), figures);
  }
  ~Schedule() {
    if (::getpid() == owner_) ::munmap(&ledger_, sizeof ledger_);
  }

  bool run() {
    plan();
    if (watch_) watch_->begin_life();
    start_clients();
    loop_.emplace(1);
    proxy_.emplace(*loop_, seed_, doors_, figures_);
    proxy_->set_agent(agent_.socket_path(), agent_.port());

    for (std::size_t i = 0; i < restarts_; ++i) {
      live_for(random_.between(50, 600));
      restart_agent();
    }
    live_for(random_.between(100, 1200));
    proxy_->calm_down();
    if (restarts_ > 0 && random_.chance(50)) restart_agent();  // just before the clients' ends
    ledger_.stop = true;
    stopped_ = std::chrono::steady_clock::now();
    run_until("the clients' ends", [this] { return all_reaped(); });
    proxy_->cut_all();
    run_until("the agent's last connection", [this] { return agent_.counters().connections == 0; });
    run_until("the agent's last black box", [this] { return agent_.counters().boxes == 0; });

    collect_agent();
    if (watch_) watch_->judge(plans_, ledger_, restarts_ == 0, complain_);
    figures_.gave_up += Judge(plans_, ledger_, totals_, complain_).run();
    add_up();
    return is_good_;
  }

 private:
  static constexpr std::uint64_t kWatchStream = 100;
  static constexpr std::uint64_t kPauseStream = 101;

  struct Child {
    pid_t pid;
    bool reaped = false;
  };

  void plan() {
    restarts_ = random_.chance(25) ? random_.between(1, 2) : 0;
    const std::size_t clients = random_.between(2, kMaxClients);
    for (std::size_t i = 0; i < clients; ++i) {
      ClientPlan& plan = plans_.emplace_back();
      plan.number = i;
      plan.seed = random_.between(0, UINT64_MAX);
      plan.threads = random_.between(0, 3);
      plan.threads_come_and_go = plan.threads > 0 && plan.seed % 3 == 0;
      plan.fate = random_.chance(50) ? Fate::Finish : random_.one_of(Fate::Exec);
      plan.fate_after = milliseconds(random_.between(0, 1200));
      plan.way_out = random_.chance(40) ? WayOut::Flush : random_.one_of(kLastWayOut);
      // Not if a flush, or the answer to a restart, would have to wait for a connection.
      plan.has_long_pauses = plan.way_out != WayOut::Flush && plan.fate != Fate::Exec &&
                             restarts_ == 0 && random_.chance(30);
      // Not if the agent restarts: the children would have to answer for themselves.
      if (plan.fate == Fate::Finish && restarts_ == 0) plan.kids = random_.between(0, kMaxKids);
      plan.is_watched = watch_.has_value();
      plan.holds_little = random_.chance(20);
      plan.flush_ms = static_cast<unsigned>(random_.between(1, 30));
      plan.queue = random_.chance(50) ? 4096 : static_cast<unsigned>(random_.between(2, 64));
      doors_.push_back(
          open_door(random_.chance(50) ? "" : agent_.directory() + "/door" + std::to_string(i)));
      plan.is_direct = plan.is_watched && restarts_ == 0 && plan.seed % 2 == 0;
      plan.socket_path = plan.is_direct ? agent_.socket_path() : doors_.back().socket_path;
      plan.port = doors_.back().port;
    }
  }

  void start_clients() {
    for (const ClientPlan& plan : plans_) {
      const pid_t pid = ::fork();
      if (pid < 0) throw std::runtime_error("no more processes");
      if (pid == 0) run_client(plan, ledger_);
      children_.push_back({pid});
    }
  }

  void run_for(std::uint64_t ms) { loop_->run_for(milliseconds(ms)); }

  // Runs the loop, with monitors that come and go, and an agent that pauses now and then.
  void live_for(std::uint64_t ms) {
    if (!watch_) return run_for(ms);
    constexpr std::uint64_t kStep = 10;
    for (std::uint64_t passed = 0; passed < ms; passed += kStep) {
      run_for(kStep);
      watch_->step();
      if (!pauses_.chance(3)) continue;
      agent_.pause();
      run_for(pauses_.between(5, 300));
      agent_.go_on();
      ++figures_.pauses;
    }
  }

  void run_until(const char* what, const std::function<bool()>& condition) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(kPatience * 1.5);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error(std::string("waited in vain for ") + what);
      run_for(5);
    }
  }

  bool all_reaped() {
    bool all = true;
    for (std::size_t i = 0; i < children_.size(); ++i) all &= is_reaped(i);
    return all;
  }

  bool is_reaped(std::size_t i) {
    Child& child = children_[i];
    int status = 0;
    if (child.reaped || ::waitpid(child.pid, &status, WNOHANG) != child.pid) return child.reaped;
    if (!ended_well(plans_[i].fate, status))
      complain_("client " + std::to_string(i) + " of fate " +
                std::to_string(static_cast<int>(plans_[i].fate)) + " ended with wait status " +
                std::to_string(status));
    if (ledger_.stop)
      plans_[i].took =
          std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - stopped_);
    return child.reaped = true;
  }

  // Replaces the agent by one without any state. In between each client reports its acknowledged
  // calls. So that no answer of the old agent can still arrive, this first waits until each client
  // has opened a new connection, which stays unanswered.
  void restart_agent() {
    proxy_->go_away();
    agent_.stop();
    collect_agent();
    run_until("clients to notice", [this] {
      return all_alive([this](std::size_t i) { return proxy_->has_knocked_since(i); });
    });
    const std::uint32_t round = ++ledger_.round;
    run_until("clients to answer", [this, round] {
      return all_alive([&](std::size_t i) { return ledger_.accounts[i].round == round; });
    });
    agent_.start();
    if (watch_) watch_->begin_life();
    proxy_->set_agent(agent_.socket_path(), agent_.port());
    proxy_->come_back();
    ++figures_.restarts;
  }

  bool all_alive(const std::function<bool(std::size_t)>& good) {
    for (std::size_t i = 0; i < children_.size(); ++i)
      if (!is_reaped(i) && !ledger_.accounts[i].is_leaving && !good(i)) return false;
    return true;
  }

  void collect_agent() {
    if (watch_) watch_->end_life(complain_);
    totals_.push_back(agent_.totals());
    const AgentHost::Counters counters = agent_.counters();
    figures_.duplicates += counters.duplicates;
    if (counters.complaints > 0)
      complain_("the agent dropped or refused " + std::to_string(counters.complaints) + " peers");
  }

  void add_up() {
    figures_.clients += plans_.size();
    for (const ClientPlan& plan : plans_) {
      Account& account = ledger_.accounts[plan.number];
      figures_.forked += account.kids;
      figures_.died += plan.fate != Fate::Finish;
      figures_.impatient += plan.may_give_up();
      for (auto& tag : account.cells)
        for (Cell& cell : tag) figures_.calls += cell.done.count + cell.done.aborts;
      figures_.longest_call_ns =
          std::max<std::uint64_t>(figures_.longest_call_ns, account.longest_call_ns);
      figures_.longest_wait_ns =
          std::max<std::uint64_t>(figures_.longest_wait_ns, account.longest_wait_ns);
    }
  }

  const pid_t owner_ = ::getpid();  // a client's copy must not unmap the ledger
  const std::uint64_t seed_;
  Random random_;
  Figures& figures_;
  Ledger& ledger_;
  AgentHost agent_;
  std::optional<SpanWatch> watch_;
  Random pauses_{seed_, kPauseStream};
  std::vector<ClientPlan> plans_;
  std::vector<Door> doors_;
  std::size_t restarts_ = 0;
  std::vector<Child> children_;
  std::chrono::steady_clock::time_point stopped_;
  std::optional<asio::io_context> loop_;  // made after the clients were forked
  std::optional<Proxy> proxy_;
  std::vector<AgentHost::Totals> totals_;  // of each agent in order
  bool is_good_ = true;
  const Complain complain_ = [this](const std::string& what) {
    is_good_ = false;
    std::cerr << "seed " + std::to_string(seed_) + ": " + what + "\n";
  };
};

}  // namespace

void Figures::add(const Figures& other) {
  for (const auto& [name, sum] : kSums) this->*sum += other.*sum;
  longest_call_ns = std::max(longest_call_ns, other.longest_call_ns);
  longest_wait_ns = std::max(longest_wait_ns, other.longest_wait_ns);
}

bool run_schedule(std::uint64_t seed, bool is_watched, Figures& figures) try {
  return Schedule(seed, is_watched, figures).run();
} catch (const std::exception& problem) {
  std::cerr << "seed " + std::to_string(seed) + ": " + problem.what() + "\n";
  return false;
}

}  // namespace pcp::trace::chaos
