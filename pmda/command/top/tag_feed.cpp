// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/tag_feed.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "base/descriptor.hpp"
#include "base/mutex.hpp"
#include "command/pcp/archive_source.hpp"
#include "command/pcp/recorded_host.hpp"

namespace pcp::trace::command {

namespace {

constexpr Duration kRetry = std::chrono::seconds(1);
constexpr Duration kHaste = std::chrono::milliseconds(500);  // for the first values
constexpr Duration kQuiet = std::chrono::seconds(3);         // until the user is told

}  // namespace

struct TagFeed::Shared {
  explicit Shared(const TopOptions& made_with)
      : options(made_with), hosts(options.archive ? 1 : options.hosts.size()) {
    if (!bell) throw std::system_error(errno, std::generic_category(), "eventfd");
  }

  // By a host's thread.
  struct Host {
    std::optional<Recent> recent{};  // not yet taken
    std::string trouble{};           // empty: it gives values
    std::optional<Instant> asked{};  // nothing: no question
    bool has_worked = false;
    bool is_over = false;
    std::optional<TagDetail> detail{};
  };

  const TopOptions options;
  const Descriptor bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Mutex mutex;
  ConditionVariable changed;
  std::vector<Host> hosts TRACE_GUARDED_BY(mutex);
  bool is_ending TRACE_GUARDED_BY(mutex) = false;
  std::optional<TagKey> opened TRACE_GUARDED_BY(mutex);

  template <typename Change>
  void change(std::size_t host, Change change) {
    const Lock lock(mutex);
    change(hosts[host]);
    ::eventfd_write(bell.get(), 1);
  }

  // Waits until a time, and until the host's tags are taken, so that their calls count; or until
  // another tag is opened. False at the end.
  bool waits_until(std::size_t host, Instant time, const std::optional<TagKey>& known) {
    const Lock lock(mutex);
    while (!is_ending && opened == known) {
      const bool is_full = hosts[host].recent.has_value();
      if (!changed.wait_until(mutex, is_full ? steady_now() + kRetry : time) && !is_full) break;
    }
    return !is_ending;
  }

  bool is_full(std::size_t host) {
    const Lock lock(mutex);
    return hosts[host].recent.has_value();
  }

  std::optional<TagKey> opened_now() {
    const Lock lock(mutex);
    return opened;
  }

  std::string trouble_of(std::size_t number) TRACE_REQUIRES(mutex) {
    const Host& host = hosts[number];
    const std::string before = options.archive ? "" : shown_host(options.hosts[number]) + ": ";
    if (!host.trouble.empty()) return before + host.trouble;
    if (!host.asked || steady_now() - *host.asked < kQuiet) return "";
    return before + "no answer yet; pmcd or its trace agent may be stopped";
  }
};

namespace {

// Only the quantities that are shown.
bool is_wanted(const RecordedQuantity& what, bool with_histograms) {
  if (what.quantity == Quantity::Histogram)
    return with_histograms && what.ending == Ending::Completed;
  return is_of_tags(what.quantity)
             ? what.quantity != Quantity::Rate
             : what.quantity < Quantity::Folded || what.quantity >= Quantity::WholePeriod;
}

// Runs on a host's thread.
class TagReader {
 public:
  // `host`: null for an archive.
  TagReader(std::shared_ptr<TagFeed::Shared> shared, std::size_t number, SampleSource& source,
            RecordedHost* host, std::string name)
      : shared_(std::move(shared)),
        number_(number),
        source_(source),
        host_(host),
        name_(std::move(name)),
        tags_(source, shared_->options.hosts.size() > 1) {}

  void run() {
    Instant next = steady_now();
    do {
      if (tags_.is_over())
        next = steady_now() + kRetry;  // only another tag may be opened
      else if (steady_now() >= next && !shared_->is_full(number_))
        next = std::max(next + read(), steady_now());
      read_detail();
    } while (shared_->waits_until(number_, next, opened_));
  }

 private:
  // Gives the time until the next reading.
  Duration read() {
    shared_->change(number_, [](auto& host) { host.asked = steady_now(); });
    Result<std::optional<Recent>> recent = tags_.next();
    if (recent && host_ != nullptr) name_ = host_->host().host_name();
    Duration pause = kRetry;
    if (recent && !*recent) pause = host_ == nullptr ? Duration::zero() : kHaste;
    if (recent && *recent) {
      (*recent)->hosts = {name_};
      pause = shared_->options.interval.value_or(std::chrono::duration_cast<Duration>(
          std::chrono::duration<double>((*recent)->elapsed_s)));
    }
    shared_->change(number_, [&](auto& host) {
      host.asked.reset();
      host.trouble = recent ? "" : recent.error().message;
      host.has_worked |= bool(recent);
      host.is_over = tags_.is_over();
      if (recent && *recent) host.recent = **std::move(recent);
    });
    return std::min(pause, shared_->options.interval.value_or(pause));
  }

  void read_detail() {
    std::optional<TagKey> opened = shared_->opened_now();
    bool is_new = opened != opened_;
    opened_ = std::move(opened);
    // Another agent may number its tags anew.
    if (host_ != nullptr)
      is_new |= std::exchange(connections_, host_->connections()) != host_->connections();
    if (!opened_ || (host_ != nullptr && !host_->host().is_connected())) return;
    if (is_new) detail_ = {.host = name_};
    if (!detail_.instance) find_tag(detail_, source_, *opened_);
    if (host_ == nullptr)
      detail_.histogram = tags_.text_of(opened_->first, opened_->second);
    else
      update(detail_, source_, *opened_);
    shared_->change(number_, [&](auto& host) { host.detail = detail_; });
  }

  const std::shared_ptr<TagFeed::Shared> shared_;
  const std::size_t number_;
  SampleSource& source_;
  RecordedHost* const host_;
  std::string name_;
  RecentTags tags_;
  std::optional<TagKey> opened_;
  unsigned connections_ = 0;  // when the tag was looked up
  TagDetail detail_;
};

void run(const std::shared_ptr<TagFeed::Shared>& shared, std::size_t number) {
  const TopOptions& options = shared->options;
  try {
    if (!options.archive) {
      const bool with_histograms = options.hosts.size() > 1;
      RecordedHost host(options.hosts[number],
                        [=](const auto& what) { return is_wanted(what, with_histograms); });
      return TagReader(shared, number, host, &host, "").run();
    }
    Result<ArchiveSource> archive = ArchiveSource::open(*options.archive);
    if (!archive) throw std::runtime_error(archive.error().message);
    TagReader(shared, number, *archive, nullptr, archive->host()).run();
  } catch (const std::exception& fault) {
    shared->change(number, [&](auto& host) { host.trouble = fault.what(); });
  }
}

}  // namespace

TagFeed::TagFeed(const TopOptions& options) : shared_(std::make_shared<Shared>(options)) {
  for (std::size_t number = 0; number < (options.archive ? 1 : options.hosts.size()); ++number)
    std::thread([shared = shared_, number] { run(shared, number); }).detach();
}

TagFeed::~TagFeed() {
  const Lock lock(shared_->mutex);
  shared_->is_ending = true;
  shared_->changed.notify_all();
}

int TagFeed::descriptor() const { return shared_->bell.get(); }

std::optional<Recent> TagFeed::take() {
  const Lock lock(shared_->mutex);
  eventfd_t rung = 0;
  ::eventfd_read(shared_->bell.get(), &rung);
  std::vector<Recent> all;
  for (std::size_t i = 0; i < shared_->hosts.size(); ++i)
    if (!shared_->hosts[i].recent && shared_->trouble_of(i).empty()) return {};
  for (Shared::Host& host : shared_->hosts)
    if (host.recent) all.push_back(*std::exchange(host.recent, {}));
  shared_->changed.notify_all();
  return all.empty() ? std::nullopt : std::optional(sum_of_hosts(std::move(all)));
}

void TagFeed::open(const std::optional<TagKey>& key) {
  const Lock lock(shared_->mutex);
  shared_->opened = key;
  for (Shared::Host& host : shared_->hosts) host.detail.reset();
  shared_->changed.notify_all();
}

std::vector<TagDetail> TagFeed::details() {
  const Lock lock(shared_->mutex);
  std::vector<TagDetail> all;
  for (const Shared::Host& host : shared_->hosts)
    if (host.detail) all.push_back(*host.detail);
  return all;
}

std::vector<std::string> TagFeed::troubles() {
  const Lock lock(shared_->mutex);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < shared_->hosts.size(); ++i)
    if (std::string trouble = shared_->trouble_of(i); !trouble.empty())
      all.push_back(std::move(trouble));
  return all;
}

bool TagFeed::has_worked() {
  const Lock lock(shared_->mutex);
  return std::ranges::any_of(shared_->hosts, &Shared::Host::has_worked);
}

bool TagFeed::is_over() {
  const Lock lock(shared_->mutex);
  return std::ranges::all_of(shared_->hosts, [](const Shared::Host& host) {
    return !host.recent && (host.is_over || (!host.has_worked && !host.trouble.empty()));
  });
}

}  // namespace pcp::trace::command
