// SPDX-License-Identifier: LGPL-2.1-or-later
// pmdatrace: options, and how the parts are put together.
#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <utility>

#include "agent/adopt_numbers.hpp"
#include "agent/agent_options.hpp"
#include "agent/bridge.hpp"
#include "agent/disk_thread.hpp"
#include "agent/log.hpp"
#include "agent/main_loop.hpp"
#include "agent/number_keeper.hpp"
#include "agent/span_monitors.hpp"
#include "agent/store_requests.hpp"
#include "base/clock.hpp"
#include "base/escape.hpp"
#include "base/heap.hpp"
#include "collector/collector.hpp"
#include "collector/engine/instance_file.hpp"
#include "metrics/metrics.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

namespace {

std::string pcp_user() {
  char* name = nullptr;
  pmGetUsername(&name);
  return name;
}

// Root, PCP's user and our own.
Privileges privileges(const AgentOptions& options) {
  std::set<uid_t> users{0, geteuid()};
  if (const passwd* const pcp = getpwnam(pcp_user().c_str())) users.insert(pcp->pw_uid);
  return Privileges(std::move(users), options.capture_remote);
}

// Only root can change its user; without -M other users keep their own.
void become(const std::string& user) {
  if (geteuid() == 0 || !user.empty()) {
    pmSetProcessIdentity(user.empty() ? pcp_user().c_str() : user.c_str());  // exits on failure
  }
}

// A fetch must not wait behind programs that keep all processors busy: pmcd drops an agent that is
// silent for long. Only root may raise the priority; a priority other than 0 was chosen, and stays.
void raise_priority() {
  constexpr int kNice = -10;
  if (getpriority(PRIO_PROCESS, 0) == 0) setpriority(PRIO_PROCESS, 0, kNice);
}

// libc checks this file for the time of each log line. If TZ names the file, libc reads it only
// once.
void keep_time_zone() { setenv("TZ", ":/etc/localtime", 0); }

// How long the start waits until numbers are reserved on disk. A hanging disk must not use up the
// three seconds that pmcd gives a new agent.
constexpr Duration kWaitForReserve = std::chrono::seconds(1);

// A hanging disk may delay the process's end at most this long.
constexpr int kWaitAtEndSeconds = 20;

std::string numbers_path(int domain) {
  return std::string(pmGetConfig("PCP_VAR_DIR")) + "/config/pmda/" + std::to_string(domain) +
         ".trace";
}

// Gives no warning on a first start, when the file does not exist.
InstanceFile::Contents load_numbers(const InstanceFile& file, const std::string& path) {
  InstanceFile::Contents known = file.load();
  if (!known.warning.empty() && std::filesystem::exists(path)) log_warning(known.warning);
  return known;
}

int adopt(const AgentOptions& options) {
  become(options.user);  // this user owns the file
  const std::string path = numbers_path(options.domain);
  const InstanceFile file(path);
  return adopt_numbers(file, load_numbers(file, path)) ? EXIT_SUCCESS : EXIT_FAILURE;
}

IngestOptions ingest_options(AgentOptions& options) {
  IngestOptions ingest;
  ingest.port = options.port;
  ingest.socket_path = options.socket_path;
  ingest.access = std::move(options.access);
  ingest.split = std::move(options.split);
  return ingest;
}

int run(AgentOptions options) {
  free_without_delay();
  keep_time_zone();
  Bridge bridge(options.domain, options.log);

  const std::string path = numbers_path(options.domain);
  const InstanceFile file(path);
  InstanceFile::Contents known = load_numbers(file, path);
  Collector collector({options.engine, ingest_options(options), std::move(known.instances),
                       known.reserved, options.span_bytes},
                      log_info, steady_now());
  if (const Result<void> listening = collector.listen(); !listening) {
    log_error(listening.error().message);
    return EXIT_FAILURE;
  }
  raise_priority();
  become(options.user);

  const Reader reader = collector.reader();
  Metrics metrics({options.domain, options.units, collector.port(), options.stable_labels}, reader,
                  steady_now());
  if (!options.debug.empty()) static_cast<void>(metrics.debug_options().replace(options.debug));
  Privileges users = privileges(options);
  SpanMonitors monitors(collector.spans(), users, options.capture, log_info);
  metrics.set_span_desk(monitors);
  StoreRequests stores(metrics, users, monitors, [&](Instant now) { collector.reset(now); });
  NumberKeeper numbers(file, reader, log_warning, steady_now);
  MainLoop loop;  // blocks signals, also for the threads that start later
  DiskThread disk(numbers);
  disk.wait_for_first_save(kWaitForReserve);
  collector.start();
  const bool connected = bridge.connect(metrics, stores);
  if (connected) {
    std::uint64_t seen = 0;  // the last Reader::changes()
    const auto after_request = [&] {
      const std::uint64_t changes = reader.changes();
      if (std::exchange(seen, changes) != changes) disk.save_numbers();
    };
    const auto look = [&]() -> std::optional<Duration> {
      const Instant now = steady_now();
      const std::optional<Instant> next = monitors.end_idle(now);
      return next ? std::optional(*next - now) : std::nullopt;
    };
    loop.run(
        bridge, after_request, [&] { collector.request_client_log(); }, look);
  }
  end_when_stuck(kWaitAtEndSeconds);
  collector.stop();
  return connected ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Limits the complaint to one line, whatever the options contain.
constexpr std::size_t kLongestComplaint = 500;

// Written to standard error, for the person or the PCP starter that ran the agent, and to the
// agent's log, where people look.
int refuse(const Error& error, const std::string& log) {
  const std::string line = printable(error.message, kLongestComplaint) + " (see pmdatrace(1))";
  std::cerr << "pmdatrace: " << line << std::endl;
  int status = 0;
  pmOpenLog(pmGetProgname(), log.c_str(), stderr, &status);
  if (status == 1) log_error(line);
  return EXIT_FAILURE;
}

int show(const std::string& text) {
  std::cout << text << std::flush;
  return EXIT_SUCCESS;
}

// For a person who started the agent by hand: the agent would write PDUs to standard output.
int explain() {
  std::cerr << "pmdatrace: pmcd starts this program; Install, which is beside it, tells pmcd to"
               " (see pmdatrace(1))"
            << std::endl;
  return EXIT_FAILURE;
}

int start(int argc, char** argv) {
  pmSetProgname("pmdatrace");
  CommandLine line = parse_options(argc, argv);
  if (line.wanted == CommandLine::Wanted::Help) return show(agent_usage());
  if (line.wanted == CommandLine::Wanted::Version) return show("pmdatrace " PCP_TRACE_VERSION "\n");
  if (!line.status) return refuse(line.status.error(), line.options.log);
  if (line.options.adopts_numbers) return adopt(line.options);
  if (isatty(STDOUT_FILENO) != 0) return explain();
  return run(std::move(line.options));
}

}  // namespace

}  // namespace pcp::trace::agent

int main(int argc, char** argv) {
  try {
    return pcp::trace::agent::start(argc, argv);
  } catch (const std::exception& problem) {  // no descriptors, threads or memory
    std::cerr << "pmdatrace: " << problem.what() << std::endl;
    return EXIT_FAILURE;
  }
}
