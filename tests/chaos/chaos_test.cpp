// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "exact", on a network of random faults with clients that die at any moment. Runs
// schedules, several at once, each in its own process and from its own seed. A seed fixes the plan
// and each connection's fault, but not how threads and processes interleave.
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "chaos/client.hpp"
#include "chaos/schedule.hpp"

namespace pcp::trace::chaos {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kUsage =
    R"(Usage: chaos_test [--schedules N] [--first N | --seed N] [--parallel N] [--forever] [--watched]
                  [--judge-gave-up]

  --schedules N    so many schedules (200): half of them the same ones each time, half new ones
  --first N        all of them new, from this seed on
  --seed N         this one schedule only
  --parallel N     so many at once (6)
  --forever        until one fails or the process is ended
  --watched        while monitors look at single transactions
  --judge-gave-up  on a machine with time to spare: fails if many clients lost something at an end
                   that waits for a second only

Says each minute how far it is, and in the end all totals. Exit status: 0 if everything that was
recorded was counted, and nothing twice, and (of 20 schedules or more) enough went wrong on the way.
)";

// A schedule has its own time limits; this one ends a schedule that hangs.
constexpr std::chrono::seconds kLongestSchedule{240};

// Enough schedules to see every kind of fault.
constexpr std::uint64_t kManySchedules = 20;

struct Options {
  std::uint64_t schedules = 200;
  std::uint64_t parallel = 6;
  std::optional<std::uint64_t> first;  // seed
  bool forever = false;
  bool watched = false;
  bool judges_gave_up = false;
};

class Runner {
 public:
  explicit Runner(const Options& options) : options_(options) {
    const std::size_t bytes = options.parallel * sizeof(Figures);
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    results_ = static_cast<Figures*>(memory);
    for (std::size_t i = options.parallel; i > 0; --i) free_slots_.push_back(i - 1);
    // The other seeds begin at the time of day in seconds, far from the fixed ones.
    const auto now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::seconds(1);
    next_new_ = options.first.value_or(static_cast<std::uint64_t>(now) * 100'000);
    if (!options.first && !options.forever) same_each_time_ = options.schedules / 2;
  }

  int run() {
    std::cout << "seeds: "
              << (same_each_time_ > 0 ? "1 to " + std::to_string(same_each_time_) + ", and " : "")
              << "from " << next_new_ << std::endl;
    while (wants_more() || !jobs_.empty()) {
      while (wants_more() && !free_slots_.empty()) start(next_seed());
      // poll: a schedule has ended
      if (!reap()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (Clock::now() - last_line_ > std::chrono::minutes(1)) print("so far");
    }
    print("totals");
    const bool too_many = options_.judges_gave_up && sum_.gave_up > sum_.impatient / 10 + 2;
    if (too_many) std::cerr << "too many clients gave up at their end" << std::endl;
    const bool was_chaos = finished_ < kManySchedules || went_through_enough();
    return failed_.empty() && !too_many && was_chaos ? 0 : 1;
  }

 private:
  // Success proves little if nothing could go wrong. So many schedules must have met enough faults:
  // a fourth of the usual number, and less for faults that are rare, or rare on a busy machine.
  bool went_through_enough() const {
    struct Demand {
      const char* what;
      std::uint64_t count;
      std::uint64_t in_twenty;  // schedules
    };
    bool is_enough = true;
    for (const Demand& demand :
         {Demand{"faults", sum_.faults, 40}, Demand{"answers kept back", sum_.answers_lost, 3},
          Demand{"batches sent again by clients", sum_.resent, 10},
          Demand{"batches sent again by the network", sum_.replayed, 1},
          Demand{"batches recognised", sum_.duplicates, 1},
          Demand{"agents replaced", sum_.restarts, 2}, Demand{"clients that died", sum_.died, 10},
          Demand{"children", sum_.forked, 8},
          Demand{"transactions captured", sum_.captured, options_.watched ? 4000u : 0},
          Demand{"transactions seen", sum_.seen, options_.watched ? 1000u : 0},
          Demand{"transactions missed", sum_.missed, options_.watched ? 500u : 0},
          Demand{"transactions of whole requests", sum_.whole, options_.watched ? 500u : 0},
          Demand{"monitors", sum_.monitors, options_.watched ? 20u : 0},
          Demand{"pauses of the agent", sum_.pauses, options_.watched ? 5u : 0}}) {
      if (demand.count * kManySchedules >= demand.in_twenty * finished_) continue;
      is_enough = false;
      std::cerr << "too few " << demand.what << ": " << demand.count << std::endl;
    }
    return is_enough;
  }

  struct Job {
    std::uint64_t seed;
    std::size_t slot;
    Clock::time_point began;
  };

  bool wants_more() const {
    if (options_.forever) return failed_.empty();
    return started_ < options_.schedules;
  }

  std::uint64_t next_seed() { return started_ < same_each_time_ ? started_ + 1 : next_new_++; }

  void start(std::uint64_t seed) {
    const std::size_t slot = free_slots_.back();
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) std::abort();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      results_[slot] = {};
      ::_exit(run_schedule(seed, options_.watched, results_[slot]) ? 0 : 1);
    }
    free_slots_.pop_back();
    jobs_[pid] = {seed, slot, Clock::now()};
    ++started_;
  }

  bool reap() {
    for (const auto& [pid, job] : jobs_)
      if (Clock::now() - job.began > kLongestSchedule) ::kill(pid, SIGKILL);
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    const auto found = jobs_.find(pid);
    if (found == jobs_.end()) return false;
    const Job job = found->second;
    jobs_.erase(found);
    free_slots_.push_back(job.slot);
    sum_.add(results_[job.slot]);
    ++finished_;
    if (status != 0) {
      failed_.push_back(job.seed);
      std::cerr << "seed " << job.seed << " FAILED (wait status " << status
                << "). Again: chaos_test" << (options_.watched ? " --watched" : "") << " --seed "
                << job.seed << std::endl;
    }
    return true;
  }

  // tests/levels/nightly.py sums up this function's last line.
  void print(const char* title) {
    last_line_ = Clock::now();
    std::cout << title << ": schedules=" << finished_ << " failed=" << failed_.size();
    for (const auto& [name, sum] : Figures::kSums) std::cout << ' ' << name << '=' << sum_.*sum;
    std::cout << " in " << std::chrono::duration<double>(last_line_ - began_).count()
              << " s; the longest call " << sum_.longest_call_ns / 1000
              << " us, the longest that may have waited " << sum_.longest_wait_ns / 1000 << " us"
              << std::endl;
  }

  const Options options_;
  Figures* results_ = nullptr;  // shared with the schedules
  std::vector<std::size_t> free_slots_;
  std::map<pid_t, Job> jobs_;
  std::uint64_t same_each_time_ = 0;  // seeds from 1 on
  std::uint64_t next_new_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t finished_ = 0;
  std::vector<std::uint64_t> failed_;
  Figures sum_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point last_line_ = began_;
};

int run(const std::vector<std::string>& arguments) {
  Options options;
  const std::map<std::string, bool*> flags{{"--forever", &options.forever},
                                           {"--watched", &options.watched},
                                           {"--judge-gave-up", &options.judges_gave_up}};
  std::uint64_t first = 0;
  const std::map<std::string, std::uint64_t*> numbers{{"--schedules", &options.schedules},
                                                      {"--seed", &first},
                                                      {"--first", &first},
                                                      {"--parallel", &options.parallel}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (flags.contains(word)) {
      *flags.at(word) = true;
    } else if (numbers.contains(word) && i + 1 < arguments.size()) {
      *numbers.at(word) = std::strtoull(arguments[++i].c_str(), nullptr, 10);
      if (numbers.at(word) == &first) options.first = first;
      if (word == "--seed") options.schedules = 1;
    } else {
      (word == "--help" ? std::cout : std::cerr) << kUsage;
      return word == "--help" ? 0 : 2;
    }
  }
  options.parallel = std::max<std::uint64_t>(options.parallel, 1);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  return Runner(options).run();
}

}  // namespace
}  // namespace pcp::trace::chaos

int main(int argc, char** argv) {
  using namespace pcp::trace::chaos;
  if (argc == 4 && std::strcmp(argv[1], kAfterExec) == 0)
    return run_after_exec(argv[2], std::strtoull(argv[3], nullptr, 10));
  return run({argv + 1, argv + argc});
}
