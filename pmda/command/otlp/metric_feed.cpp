// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/metric_feed.hpp"

#include <thread>
#include <utility>

#include "base/mutex.hpp"
#include "command/otlp/metric_rows.hpp"
#include "command/otlp/metric_writer.hpp"
#include "command/pcp/recorded_host.hpp"
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

bool is_wanted(const RecordedQuantity& what) {
  return is_of_life(what.quantity) || row_of(what) != nullptr;
}

// Runs on a host's thread.
class MetricHost {
 public:
  MetricHost(std::shared_ptr<MetricFeed::Shared> shared, std::size_t number, std::string name)
      : shared_(std::move(shared)), number_(number), host_(std::move(name), is_wanted) {}

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
      if (!std::exchange(is_away_, true) && (writer_ || !shared_->is_silent))
        say(": " + read.error().message + (writer_ ? "; waiting for it" : ""));
      return false;
    }
    if (std::exchange(is_away_, false)) say(" is back");
    shared_->note_reading();
    return true;
  }

  Result<void> try_to_read() {
    const Result<std::optional<ArchiveSample>> sample = host_.next();
    if (!sample) return sample.error();
    if (!writer_)
      writer_.emplace(
          host_.host(), [this](pmInDom domain) { return host_.instances(domain); },
          shared_->exemplars.get());
    const bool is_new = std::exchange(connections_, host_.connections()) != host_.connections();
    if (host_.pcp_host().labels_changed() || is_new) writer_->forget_names();
    for (Piece& piece : writer_->write(**sample)) shared_->uplink->put(std::move(piece));
    return {};
  }

  bool tells() const {
    const Lock lock(shared_->mutex);
    return shared_->tells[number_];
  }

  void say(const std::string& what) {
    if (tells()) complain("export", shown_host(host_.pcp_host().name()) + what);
  }

  const std::shared_ptr<MetricFeed::Shared> shared_;
  const std::size_t number_;
  RecordedHost host_;
  unsigned connections_ = 0;
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
