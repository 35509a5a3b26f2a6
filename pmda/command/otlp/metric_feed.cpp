// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/metric_feed.hpp"

#include <thread>
#include <unordered_map>
#include <utility>

#include "base/mutex.hpp"
#include "command/otlp/metric_rows.hpp"
#include "command/otlp/metric_writer.hpp"
#include "command/pcp/pcp_host.hpp"
#include "command/words.hpp"

namespace pcp::trace::command::otlp {

namespace {

constexpr Duration kBetweenAttempts = std::chrono::seconds(1);
constexpr Duration kLastAnswer = std::chrono::seconds(1);

}  // namespace

struct MetricFeed::Shared {
  Shared(std::size_t hosts, std::optional<Duration> interval_, std::shared_ptr<Uplink> uplink_,
         std::shared_ptr<MetricExemplars> exemplars_, bool is_silent_)
      : interval(interval_),
        uplink(std::move(uplink_)),
        exemplars(std::move(exemplars_)),
        is_silent(is_silent_),
        threads(hosts),
        tells(hosts, !is_silent_) {}

  const std::optional<Duration> interval;
  const std::shared_ptr<Uplink> uplink;
  const std::shared_ptr<MetricExemplars> exemplars;
  const bool is_silent;

  Mutex mutex;
  ConditionVariable changed;
  std::size_t threads TRACE_GUARDED_BY(mutex);      // those that have not ended
  std::vector<bool> tells TRACE_GUARDED_BY(mutex);  // of a host's troubles
  bool has_worked TRACE_GUARDED_BY(mutex) = false;
  bool is_ending TRACE_GUARDED_BY(mutex) = false;

  // False at the end.
  bool waits_until(Instant time) {
    const Lock lock(mutex);
    while (!is_ending && changed.wait_until(mutex, time)) {
    }
    return !is_ending;
  }

  void note_reading() {
    const Lock lock(mutex);
    has_worked = true;
  }

  void note_end() {
    const Lock lock(mutex);
    --threads;
    changed.notify_all();
  }
};

namespace {

// Runs on a host's thread.
class MetricHost {
 public:
  MetricHost(std::shared_ptr<MetricFeed::Shared> shared, std::size_t number, std::string name)
      : shared_(std::move(shared)), number_(number), host_(std::move(name)) {}

  void run() {
    Instant next = steady_now();
    do {
      if (read()) {
        if (!shared_->interval) break;
        next += *shared_->interval;
        next = std::max(next, steady_now());
      } else {
        // A host that never worked is not tried again, unless it works for the other reader.
        if (!writer_ && tells()) break;
        next = steady_now() + kBetweenAttempts;
      }
    } while (shared_->waits_until(next));
    if (writer_ && shared_->interval) read();
    shared_->note_end();
  }

 private:
  bool read() {
    const Result<void> read = try_to_read();
    if (!read) {
      host_.disconnect();
      if (!std::exchange(is_away_, true) && (writer_ || !shared_->is_silent))
        say(": " + read.error().message + (writer_ ? "; waiting for it" : ""));
      return false;
    }
    if (std::exchange(is_away_, false)) say(" is back");
    shared_->note_reading();
    return true;
  }

  Result<void> try_to_read() {
    if (!host_.is_connected()) {
      if (Result<void> begun = begin(); !begun) return begun;
    }
    const Result<OwnedResult> fetched = host_.fetch(ids_);
    if (!fetched) return fetched.error();
    ArchiveSample sample;
    sample.at = moment_of((*fetched)->timestamp);
    for (const pmValueSet* const set : sets_of(**fetched)) {
      const auto metric = metrics_.find(set->pmid);
      if (metric != metrics_.end() && set->numval >= 0)
        sample.quantities.push_back({metric->second.first, metric->second.second, set});
    }
    if (sample.quantities.empty()) return Error{"its trace agent has gone"};
    if (!writer_) writer_.emplace(host_.host_name(), names_of, shared_->exemplars.get());
    if (host_.labels_changed()) writer_->forget_names();
    for (Piece& piece : writer_->write(sample)) shared_->uplink->put(std::move(piece));
    return {};
  }

  Result<void> begin() {
    if (Result<void> connected = host_.connect(); !connected) return connected;
    if (Result<void> found = host_.find_agent(); !found) return found;
    ids_.clear();
    metrics_.clear();
    for (const RecordedQuantity& what : kRecordedQuantities) {
      if (!is_of_life(what.quantity) && row_of(what) == nullptr) continue;
      const pmID id = lookup(what.metric);
      pmDesc description{};
      if (id == PM_ID_NULL || pmLookupDesc(id, &description) < 0) continue;
      ids_.push_back(id);
      metrics_.emplace(id, std::pair(what, description));
    }
    if (writer_) writer_->forget_names();
    return {};
  }

  static Instances names_of(pmInDom domain) {
    return without_numbers(instances_by(pmGetInDom, domain));
  }

  bool tells() const {
    const Lock lock(shared_->mutex);
    return shared_->tells[number_];
  }

  void say(const std::string& what) {
    if (tells()) complain("export", shown_host(host_.name()) + what);
  }

  const std::shared_ptr<MetricFeed::Shared> shared_;
  const std::size_t number_;
  PcpHost host_;
  std::vector<pmID> ids_;
  std::unordered_map<pmID, std::pair<RecordedQuantity, pmDesc>> metrics_;
  std::optional<MetricWriter> writer_;  // nothing: the host has never worked
  bool is_away_ = false;
};

}  // namespace

MetricFeed::MetricFeed(const std::vector<std::string>& hosts, std::optional<Duration> interval,
                       std::shared_ptr<Uplink> uplink, std::shared_ptr<MetricExemplars> exemplars,
                       bool is_silent)
    : shared_(std::make_shared<Shared>(hosts.size(), interval, std::move(uplink),
                                       std::move(exemplars), is_silent)) {
  for (std::size_t number = 0; number < hosts.size(); ++number)
    std::thread([shared = shared_, number, host = hosts[number]] {
      MetricHost(shared, number, host).run();
    }).detach();
}

void MetricFeed::tell_of(std::size_t host) {
  const Lock lock(shared_->mutex);
  shared_->tells[host] = true;
}

bool MetricFeed::is_over() const {
  const Lock lock(shared_->mutex);
  return shared_->threads == 0;
}

bool MetricFeed::has_worked() const {
  const Lock lock(shared_->mutex);
  return shared_->has_worked;
}

void MetricFeed::finish() {
  const Instant until = steady_now() + kLastAnswer;
  const Lock lock(shared_->mutex);
  shared_->is_ending = true;
  shared_->changed.notify_all();
  while (shared_->threads > 0 && shared_->changed.wait_until(shared_->mutex, until)) {
  }
}

}  // namespace pcp::trace::command::otlp
