// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/private_collector.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/heap.hpp"

namespace pcp::trace::command {

namespace {

using namespace std::chrono_literals;

constexpr const char* kFlush = "PCP_TRACE_FLUSH";
constexpr const char* kQueue = "PCP_TRACE_QUEUE";
constexpr Duration kIntervalOfUsualFlushes = 1s;
constexpr int kFlushesInAnInterval = 10;

// The terminal belongs to the running program, so messages wait here.
struct Log {
  static constexpr std::size_t kMostBytes = 4096;
  std::mutex mutex;
  std::string lines;
};

Log& log() {
  static Log only;
  return only;
}

void add_to_log(const std::string& line) {
  Log& to = log();
  const std::lock_guard lock(to.mutex);
  if (to.lines.size() < Log::kMostBytes) to.lines += line + '\n';
}

agent::Collector::Options collector_options(Duration interval, std::string socket_path) {
  agent::Collector::Options options;
  options.engine.period = interval;
  options.engine.buckets = 1;
  options.ingest.tcp = agent::Tcp::Loopback;
  options.ingest.port = 0;
  options.ingest.socket_path = std::move(socket_path);
  options.ingest.only_user = ::geteuid();
  options.ingest.vanish_at_end = true;  // all programs should have ended by then
  options.ingest.remember_session =
      std::chrono::hours(24 * 365);  // shows which processes have not ended
  return options;
}

}  // namespace

Result<std::unique_ptr<PrivateCollector>> PrivateCollector::create(Duration interval) {
  free_without_delay();
  Result<PrivateDirectory> directory = PrivateDirectory::create();
  if (!directory) return directory.error();
  std::unique_ptr<PrivateCollector> made(new PrivateCollector(*std::move(directory)));
  made->interval_ = interval;
  made->begin_ = steady_now();
  made->collector_ = std::make_unique<agent::Collector>(
      collector_options(interval, made->directory_.socket()), add_to_log, made->begin_);
  if (const Result<void> listening = made->collector_->listen(); !listening)
    return listening.error();
  if (made->collector_->max_connections() == 0)
    return Error{"the limit of " + std::to_string(max_open_files()) +
                 " open files leaves none for traced programs: raise it, to 256 or more, with"
                 " ulimit -n"};
  return made;
}

bool PrivateCollector::has_refused_some() const {
  return collector_->reader().ingest_counters().refused_limit > 0;
}

// A process that has sent everything says BYE, and is forgotten. PCP's own library has no BYE, but
// sends each call at once.
std::string PrivateCollector::what_is_missing() const {
  const agent::IngestCounters& counters = collector_->reader().ingest_counters();
  if (has_refused_some())
    return "too many traced programs at a time for the limit of " +
           std::to_string(max_open_files()) + " open files (ulimit -n)";
  if (counters.refused_permission > 0)
    return "a program of another user was refused; if it belongs to this recording, its calls are"
           " missing";
  if (counters.said_nothing > 0)
    return "a traced program gave its connection up before record had answered";
  if (counters.dropped_malformed + counters.dropped_timeout + counters.dropped_limit > 0)
    return "a traced program has lost its connection";
  if (const std::uint64_t left = counters.sessions; left > 0)
    return left == 1 ? "1 process did not end by itself, and may not have sent all"
                     : std::to_string(left) +
                           " processes did not end by themselves, and may not have sent all";
  return "";
}

EnvironmentChanges PrivateCollector::environment(const std::string& filter) const {
  EnvironmentChanges changes{{"PCP_TRACE_SOCKET", directory_.socket()},
                             {"PCP_TRACE_HOST", "127.0.0.1"},
                             {"PCP_TRACE_PORT", std::to_string(port())},
                             {"PCP_TRACE_NOAGENT", std::nullopt}};
  if (!filter.empty()) changes["PCP_TRACE_CAPTURE"] = filter;
  // A full queue would cost percentiles. This one takes up to 4 MiB in a busy process.
  if (std::getenv(kQueue) == nullptr) changes[kQueue] = "65536";
  // Otherwise some intervals would get one batch more than others.
  if (std::getenv(kFlush) == nullptr && interval_ < kIntervalOfUsualFlushes)
    changes[kFlush] =
        std::to_string(std::max<std::int64_t>(interval_ / kFlushesInAnInterval / 1ms, 10));
  return changes;
}

rlim_t max_open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

std::string collectors_log() {
  Log& from = log();
  const std::lock_guard lock(from.mutex);
  return from.lines;
}

}  // namespace pcp::trace::command
