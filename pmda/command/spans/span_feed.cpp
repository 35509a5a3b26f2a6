// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/span_feed.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "command/pcp/pcp_host.hpp"
#include "command/spans/trace_relay.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::chrono::milliseconds kBetweenFetches(250);
constexpr std::chrono::seconds kBetweenAttempts(1);
constexpr Duration kSilence = std::chrono::seconds(3);  // until the user is told

// Limit of news not yet taken; beyond it the hosts' threads wait.
constexpr std::size_t kMostNews = 64;

// How long the end waits for hosts.
constexpr Duration kLastAnswer = std::chrono::seconds(1);
constexpr std::chrono::milliseconds kBetweenLastLooks(100);

Descriptor make_bell() {
  Descriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell) throw std::system_error(errno, std::generic_category(), "eventfd");
  return bell;
}

// Waits until the bell is rung, or the time is over. Gives whether it is rung.
bool waits_for(const Descriptor& bell, std::chrono::milliseconds time) {
  pollfd waited{bell.get(), POLLIN, 0};
  return ::poll(&waited, 1, static_cast<int>(time.count())) > 0;
}

// Spans that an agent had not delivered at its end are lost, like those captured without an agent.
constexpr const char* kGap = "; an unknown number of spans is missing";

constexpr const char* kTooMany =
    ": it could not be asked for its parts of all slow requests of the other hosts; share= makes"
    " them fewer";

constexpr const char* kLapse =
    ": nothing was fetched for longer than tracing.control.idle, so the capture had ended";

}  // namespace

struct SpanFeed::Queue {
  explicit Queue(std::size_t hosts) : questions(hosts), relay(hosts), threads(hosts) {}

  void put(HostNews&& added) {
    std::unique_lock lock(mutex);
    has_room.wait(lock, [this] { return news.size() < kMostNews || is_ending; });
    news.push_back(std::move(added));
    ::eventfd_write(bell.get(), 1);
  }

  // Requires: the mutex is held.
  void end() {
    is_ending = true;
    has_room.notify_all();
    ::eventfd_write(end_bell.get(), 1);
  }

  // A host's thread ends.
  void note_end() {
    const std::scoped_lock lock(mutex);
    --threads;
    ::eventfd_write(bell.get(), 1);
  }

  void note_question(std::size_t host, std::optional<Instant> asked) {
    const std::scoped_lock lock(mutex);
    questions[host].asked = asked;
  }

  // A call of the relay, under the mutex.
  template <typename Call>
  auto with_relay(Call call) {
    const std::scoped_lock lock(mutex);
    return call(relay);
  }

  void note_good_answer(std::size_t host) {
    const std::scoped_lock lock(mutex);
    questions[host].is_told = false;
  }

  // Requires: the mutex is held.
  void add_mute_hosts(std::vector<HostNews>& taken, Instant now) {
    for (std::size_t host = 0; host < questions.size(); ++host) {
      Question& question = questions[host];
      if (!question.asked || question.is_told || now - *question.asked < kSilence) continue;
      question.is_told = true;
      taken.push_back(
          {.host = host, .told = ": no answer yet; pmcd or its trace agent may be stopped"});
    }
  }

  std::mutex mutex;
  std::condition_variable has_room;
  std::vector<HostNews> news;
  bool is_ending = false;
  const Descriptor bell = make_bell();
  const Descriptor end_bell = make_bell();  // rings from the end on

  // A host's thread waits for the answer to a question.
  struct Question {
    std::optional<Instant> asked;  // nothing: no question
    bool is_told = false;          // the user was told of the delay, since the last good answer
  };
  std::vector<Question> questions;
  TraceRelay relay;
  std::size_t threads;  // those that have not ended
};

namespace {

// Runs on a host's thread.
class HostThread {
 public:
  HostThread(std::shared_ptr<SpanFeed::Queue> queue, std::size_t number, const std::string& name,
             const std::string& filter)
      : queue_(std::move(queue)), number_(number), host_(name, filter) {}

  void run() {
    do {
      if (begin()) follow();
    } while (!is_over_ && !waits_for(queue_->end_bell, kBetweenAttempts));
    queue_->note_end();
  }

 private:
  // Runs a call that may wait for the host.
  template <typename Question>
  auto ask(Question question) {
    queue_->note_question(number_, steady_now());
    auto answer = question();
    queue_->note_question(number_, {});
    return answer;
  }

  // A host that never worked is not tried again.
  bool begin() {
    const Result<void> begun = ask([this] {
      const Result<void> connected = host_.connect();
      return connected ? host_.ask_for_spans() : connected;
    });
    if (!begun) {
      say_trouble(begun.error().message);
      return false;
    }
    if (!has_worked_) began_ = steady_now();
    if (is_away_) say({.told = std::string(" is back") + kGap});
    has_worked_ = true;
    is_away_ = false;
    return true;
  }

  void follow() {
    for (bool is_last = false;;) {
      tell_wanted();
      const Result<PcpHost::Spans> fetched = ask([this] { return host_.fetch_spans(); });
      if (!fetched) return say_trouble(fetched.error().message);
      queue_->with_relay([&](TraceRelay& relay) { relay.pass_on(number_, fetched->wanted); });
      std::optional<SpanNews> spans = spans_of(*fetched);
      if (!spans) return say_trouble("the trace agent sent invalid data");
      queue_->note_good_answer(number_);
      const bool has_come = !spans->spans.empty() || spans->missed > 0;
      if (has_come) is_silent_ = false;
      const bool has_gap = fetched->has_new_agent || fetched->has_lapsed;
      if (has_come || has_gap) {
        HostNews news{.spans = std::move(spans->spans), .missed = spans->missed};
        news.has_gap = has_gap;
        if (has_gap)
          news.told =
              std::string(fetched->has_lapsed ? kLapse : ": its trace agent has restarted") + kGap;
        say(std::move(news));
      }
      if (is_last) return say({.waiting = fetched->backlog});
      if (host_.must_ask_for_spans() && !ask([this] { return host_.ask_for_spans(); }))
        return host_.disconnect();
      if (is_silent_ && steady_now() - began_ >= kSilence) say_facts();
      is_last = waits_for(queue_->end_bell,
                          fetched->backlog == 0 ? kBetweenFetches : kBetweenFetches.zero());
    }
  }

  // Tells the host what the others' programs want.
  void tell_wanted() {
    for (;;) {
      TraceRelay::Traces wanted =
          queue_->with_relay([this](TraceRelay& relay) { return relay.take(number_); });
      if (wanted.empty()) break;
      const int status = ask([&] { return host_.want_traces(text_of(wanted)); });
      if (status == PM_ERR_BADSTORE) {  // an older agent: those that a monitor has brought
        queue_->with_relay([this](TraceRelay& relay) { relay.note_lost(number_); });
      } else if (status < 0) {  // -EDQUOT: no more in this second
        queue_->with_relay([&](TraceRelay& relay) { relay.put_back(number_, std::move(wanted)); });
        break;
      }
    }
    if (queue_->with_relay([this](TraceRelay& relay) { return relay.take_lost(number_); }))
      say({.told = std::exchange(is_told_of_loss_, true) ? "" : std::string(kTooMany) + kGap,
           .has_gap = true});
  }

  std::optional<SpanNews> spans_of(const PcpHost::Spans& fetched) const {
    if (fetched.events().numval == 0) return SpanNews();
    std::optional<SpanNews> news = read_events(*fetched.events().vlist[0].value.pval);
    if (news)
      for (SpanEvent& span : news->spans)
        if (span.host.empty()) span.host = host_.host_name();
    return news;
  }

  void say_facts() {
    is_silent_ = false;
    say({.facts = ask([this] { return read_facts(host_); })});
  }

  void say_trouble(const std::string& why) {
    host_.disconnect();
    is_over_ = !has_worked_;
    if (std::exchange(is_away_, true)) return;
    say({.told = ": " + why + (is_over_ ? "" : "; waiting for it"),
         .has_gap = !is_over_,
         .is_over = is_over_});
  }

  void say(HostNews news) {
    news.host = number_;
    queue_->put(std::move(news));
  }

  const std::shared_ptr<SpanFeed::Queue> queue_;
  const std::size_t number_;
  PcpHost host_;
  Instant began_{};
  bool has_worked_ = false;
  bool is_away_ = false;
  bool is_over_ = false;
  bool is_silent_ = true;         // no spans since the begin
  bool is_told_of_loss_ = false;  // the user, of wanted traces
};

}  // namespace

SpanFeed::SpanFeed(const std::vector<std::string>& hosts, const std::string& filter)
    : queue_(std::make_shared<Queue>(hosts.size())) {
  for (std::size_t number = 0; number < hosts.size(); ++number)
    std::thread([queue = queue_, number, name = hosts[number], filter] {
      HostThread(queue, number, name, filter).run();
    }).detach();
}

SpanFeed::~SpanFeed() {
  const std::scoped_lock lock(queue_->mutex);
  queue_->end();
}

int SpanFeed::descriptor() const { return queue_->bell.get(); }

std::vector<HostNews> SpanFeed::finish() {
  const Instant until = steady_now() + kLastAnswer;
  std::unique_lock lock(queue_->mutex);
  queue_->end();
  while (queue_->threads > 0 && steady_now() < until) {
    lock.unlock();
    waits_for(queue_->bell, kBetweenLastLooks);
    lock.lock();
    eventfd_t rung = 0;
    ::eventfd_read(queue_->bell.get(), &rung);
  }
  return std::exchange(queue_->news, {});
}

std::vector<HostNews> SpanFeed::take() {
  const std::scoped_lock lock(queue_->mutex);
  eventfd_t rung = 0;
  ::eventfd_read(queue_->bell.get(), &rung);
  std::vector<HostNews> taken = std::exchange(queue_->news, {});
  queue_->has_room.notify_all();
  queue_->add_mute_hosts(taken, steady_now());
  return taken;
}

}  // namespace pcp::trace::command
