// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/private_agent.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/heap.hpp"
#include "command/record/record_options.hpp"
#include "command/record/sampling_interval.hpp"
#include "metrics/label_sets.hpp"
#include "metrics/span_items.hpp"

namespace pcp::trace::command {

namespace {

using namespace std::chrono_literals;

constexpr const char* kFlush = "PCP_TRACE_FLUSH";
constexpr const char* kQueue = "PCP_TRACE_QUEUE";
constexpr Duration kUsualFlush = 100ms;
constexpr int kFlushesInAnInterval = 10;
constexpr Duration kFlushIfItGrows = 20ms;

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

agent::Collector::Options collector_options(const PrivateAgent::Settings& settings,
                                            std::string socket_path) {
  agent::Collector::Options options;
  options.engine.period = settings.interval.value_or(kFirstInterval);
  options.engine.buckets = 1;
  options.engine.is_paced_by_reader = true;
  options.ingest.tcp = agent::Tcp::Loopback;
  options.ingest.port = 0;
  options.ingest.socket_path = std::move(socket_path);
  options.ingest.only_user = ::geteuid();
  options.ingest.split = settings.split;
  options.ingest.max_spans_a_second = kMostSpansASecond;
  options.ingest.vanish_at_end = true;  // all programs should have ended by then
  options.ingest.remember_session =
      std::chrono::hours(24 * 365);  // shows which processes have not ended
  return options;
}

constexpr unsigned kDomain = 10;  // of trace agents

// Limit of one fetch of events. Readers of archives handle a record of this size quickly.
constexpr std::size_t kMostEventBytes = 128 * 1024;

pmDesc description_of(const agent::Metric& metric) {
  pmDesc description{};
  description.pmid = pmID_build(kDomain, metric.cluster, metric.item);
  description.type = metric.type();
  description.indom =
      metric.indom == agent::kNoIndom ? PM_INDOM_NULL : pmInDom_build(kDomain, metric.indom);
  description.sem = metric.semantics;
  description.units = metric.units;
  return description;
}

}  // namespace

PrivateAgent::PrivateAgent(PrivateDirectory directory, Settings settings)
    : directory_(std::move(directory)),
      settings_(std::move(settings)),
      begin_(steady_now()),
      now_(begin_),
      collector_(std::make_unique<agent::Collector>(
          collector_options(settings_, directory_.bound()), add_to_log, begin_)) {
  if (!settings_.filter.empty()) spans_ = collector_->spans().capture(settings_.filter, {});
}

PrivateAgent::~PrivateAgent() {
  if (metrics_) metrics_->release();
}

Result<std::unique_ptr<PrivateAgent>> PrivateAgent::create(Settings settings) {
  free_without_delay();
  Result<PrivateDirectory> directory = PrivateDirectory::create();
  if (!directory) return directory.error();
  std::unique_ptr<PrivateAgent> made(new PrivateAgent(*std::move(directory), std::move(settings)));
  agent::Collector& collector = *made->collector_;
  if (const Result<void> listening = collector.listen(); !listening) return listening.error();
  if (const Result<void> hidden = made->directory_.hide_socket(); !hidden) return hidden.error();
  if (collector.max_connections() == 0)
    return Error{"the limit of " + std::to_string(max_open_files()) +
                 " open files leaves none for traced programs: raise it, to 256 or more, with"
                 " ulimit -n"};
  made->metrics_.emplace(agent::Metrics::Settings{kDomain, {}, collector.port()},
                         collector.reader(), made->begin_);
  made->metrics_->set_span_desk(*made);
  return made;
}

bool PrivateAgent::has_refused_some() const {
  return collector_->reader().ingest_counters().refused_limit > 0;
}

// A process that has sent everything says BYE, and is forgotten. PCP's own library has no BYE, but
// sends each call at once.
std::string PrivateAgent::what_is_missing() const {
  const agent::IngestCounters& counters = collector_->reader().ingest_counters();
  if (has_refused_some())
    return "too many traced programs at a time for the limit of " +
           std::to_string(max_open_files()) + " open files (ulimit -n)";
  if (counters.refused_permission > 0)
    return "a program of another user was refused; if it belongs to this recording, its calls are"
           " missing";
  if (counters.said_nothing > 0) return "a traced program disconnected before record could answer";
  if (counters.dropped_malformed + counters.dropped_timeout + counters.dropped_limit > 0)
    return "a traced program has lost its connection";
  if (const std::uint64_t left = counters.sessions; left > 0)
    return left == 1 ? "1 process did not end by itself, and may not have sent all"
                     : std::to_string(left) +
                           " processes did not end by themselves, and may not have sent all";
  return "";
}

EnvironmentChanges PrivateAgent::environment() const {
  EnvironmentChanges changes{{"PCP_TRACE_SOCKET", directory_.socket()},
                             {"PCP_TRACE_HOST", "127.0.0.1"},
                             {"PCP_TRACE_PORT", std::to_string(collector_->port())},
                             {"PCP_TRACE_NOAGENT", std::nullopt}};
  if (!settings_.filter.empty()) changes["PCP_TRACE_CAPTURE"] = settings_.filter;
  // A full queue would cost percentiles. This one takes up to 4 MiB in a busy process.
  if (std::getenv(kQueue) == nullptr) changes[kQueue] = "65536";
  // Otherwise some intervals would get one batch more than others.
  const Duration flush =
      settings_.interval ? *settings_.interval / kFlushesInAnInterval : kFlushIfItGrows;
  if (std::getenv(kFlush) == nullptr && flush < kUsualFlush)
    changes[kFlush] = std::to_string(std::max<std::int64_t>(flush / 1ms, 10));
  return changes;
}

std::vector<RecordedMetric> PrivateAgent::metrics() {
  std::vector<RecordedMetric> all;
  for (const agent::Metric& metric : metrics_->table())
    if (metric.cluster != agent::kSpanCluster ||
        (spans_ && agent::is_of_events(metric.cluster, metric.item)))
      all.push_back({metric.name, description_of(metric)});
  return all;
}

std::string PrivateAgent::text(unsigned type, unsigned of) {
  const char* text = nullptr;
  const int error = metrics_->text(static_cast<int>(of), static_cast<int>(type), &text);
  return error < 0 ? "" : text;
}

OwnedLabels PrivateAgent::labels(unsigned type, unsigned of) {
  pmLabelSet* sets = nullptr;
  if (type == PM_LABEL_CONTEXT) {
    agent::LabelSets about(1);
    about.add(PM_IN_NULL, settings_.about);
    const int count = about.release(&sets);
    return {sets, count};
  }
  const int count = metrics_->labels(static_cast<int>(of), static_cast<int>(type), &sets, now_);
  return {sets, count};
}

Instances PrivateAgent::instances(pmInDom domain) {
  pmInResult* answer = nullptr;
  if (metrics_->instances(domain, static_cast<int>(PM_IN_NULL), nullptr, &answer, now_) < 0)
    return {};
  Instances all;
  for (int i = 0; i < answer->numinst; ++i) {
    all.emplace(answer->instlist[i], answer->namelist[i]);
    std::free(answer->namelist[i]);
  }
  std::free(answer->namelist);
  std::free(answer->instlist);
  std::free(answer);
  return all;
}

Result<Sample> PrivateAgent::read(std::span<const pmID> metrics, Instant now) {
  now_ = now;
  metrics_->release();
  return to_sample(*metrics_->fetch(metrics.data(), metrics.size(), nullptr, now));
}

agent::SpanAsker PrivateAgent::asker(Instant) { return {spans_.get(), 0, kMostEventBytes}; }

Result<RecordedAgent::Events> PrivateAgent::read_events(Instant now) {
  Events events;
  if (!spans_) return events;
  const pmID metric = pmID_build(kDomain, agent::kSpanCluster, agent::kEventsItem);
  metrics_->release();
  events.sample = to_sample(*metrics_->fetch(&metric, 1, nullptr, now));
  // If spans are left, this array is nearly full: no span needs more than a quarter.
  for (const MetricValues& each : events.sample)
    for (const pmValue& array : each.values)
      events.has_more = array.value.pval->vlen > kMostEventBytes / 2;
  return events;
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
