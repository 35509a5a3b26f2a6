// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/uplink.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "base/mutex.hpp"
#include "command/gzip.hpp"
#include "command/otlp/http_post.hpp"
#include "command/otlp/piece_queue.hpp"
#include "command/otlp/verdict.hpp"
#include "command/words.hpp"

namespace pcp::trace::command::otlp {

namespace {

// Small pieces wait so long for others, unless this many bytes are there.
constexpr Duration kGathering = std::chrono::milliseconds(500);
constexpr std::size_t kGatheredBytes = 256 * 1024;
constexpr Duration kPatience = std::chrono::minutes(1);
constexpr Duration kPatienceIfAsked = std::chrono::minutes(10);  // the server wants pauses
constexpr Duration kUntilAbandoned = std::chrono::seconds(2);    // curl looks once a second

void say(const std::string& what) { complain("export", what); }

}  // namespace

struct Uplink::Shared {
  Shared(const Endpoint& to, const char* items_name, WhenFull when_full_)
      : endpoint(to), items(items_name), when_full(when_full_) {}

  const Endpoint endpoint;
  const char* const items;
  const WhenFull when_full;

  Mutex mutex;
  ConditionVariable changed;
  PieceQueue waiting TRACE_GUARDED_BY(mutex);
  std::size_t in_flight TRACE_GUARDED_BY(mutex) = 0;     // items of the present request
  Instant end TRACE_GUARDED_BY(mutex) = Instant::max();  // of all attempts
  bool is_ending TRACE_GUARDED_BY(mutex) = false;
  bool has_ended TRACE_GUARDED_BY(mutex) = false;
  Sent sent TRACE_GUARDED_BY(mutex);
  bool is_given_up TRACE_GUARDED_BY(mutex) = false;  // no attempt is worth its time

  Sent finish(Instant until);
  void wait_for_end(Instant until) TRACE_REQUIRES(mutex) {
    while (!has_ended && steady_now() < until) changed.wait_until(mutex, until);
  }
};

namespace {

// Runs on the uplink's own thread.
class Sender {
 public:
  explicit Sender(std::shared_ptr<Uplink::Shared> shared)
      : shared_(std::move(shared)), post_(shared_->endpoint), random_(std::random_device()()) {}

  void run() {
    while (true) {
      Piece request = gather();
      if (request.items == 0) break;
      deliver(request);
    }
    const Lock lock(shared_->mutex);
    shared_->has_ended = true;
    shared_->changed.notify_all();
  }

 private:
  // Empty at the end.
  Piece gather() {
    const Lock lock(shared_->mutex);
    while (shared_->waiting.is_empty() && !shared_->is_ending)
      shared_->changed.wait(shared_->mutex);
    const Instant until = steady_now() + kGathering;
    while (!shared_->is_ending && shared_->waiting.bytes() < kGatheredBytes &&
           shared_->changed.wait_until(shared_->mutex, until)) {
    }
    Piece request = shared_->waiting.take_request();
    shared_->in_flight = request.items;
    shared_->changed.notify_all();
    return request;
  }

  void deliver(const Piece& request) {
    Result<std::string> body = request.bytes;
    if (shared_->endpoint.is_compressed) body = gzipped(request.bytes, Packing::Fast);
    if (!body) return settle(request, {Fate::Refused, 0, body.error().message});
    for (unsigned attempts = 1;; ++attempts) {
      const Answer answer = post_.post(*body, [this] { return is_given_up(); });
      const Verdict verdict = verdict_of(answer);
      if (verdict.fate != Fate::Retry) return settle(request, verdict);
      const Duration pause = pause_after(attempts, answer.retry_after, random());
      const bool is_stopped = answer.status == 0 && is_given_up();
      note_trouble(is_stopped ? "no answer until the end" : verdict.why, pause, answer.retry_after);
      if (!waits(pause, answer.retry_after.has_value())) {
        const Lock lock(shared_->mutex);
        shared_->sent.lost += std::exchange(shared_->in_flight, 0);
        return;
      }
    }
  }

  void settle(const Piece& request, const Verdict& verdict) {
    std::uint64_t lost = 0;
    {
      const Lock lock(shared_->mutex);
      Sent& sent = shared_->sent;
      shared_->in_flight = 0;
      if (verdict.fate == Fate::Refused) {
        sent.refused += request.items;
      } else {
        const std::uint64_t rejected = std::min<std::uint64_t>(verdict.rejected, request.items);
        sent.rejected += rejected;
        sent.accepted += request.items - rejected;
        ++sent.requests;
      }
      lost = sent.lost;
    }
    if (std::exchange(is_in_trouble_, false) && verdict.fate == Fate::Accepted)
      say(where() + " takes " + shared_->items + " again" +
          (lost == 0 ? "" : "; " + std::to_string(lost) + " were lost for want of room"));
    if (verdict.why.empty() || verdict.why == told_) return;
    told_ = verdict.why;
    say(where() +
        (verdict.fate == Fate::Refused ? " refuses " + std::to_string(request.items)
         : verdict.rejected > 0        ? " rejects " + std::to_string(verdict.rejected)
                                       : " warns of") +
        " " + shared_->items + ": " + verdict.why);
  }

  void note_trouble(const std::string& why, Duration pause, std::optional<Duration> asked_for) {
    if (std::exchange(is_in_trouble_, true)) return;
    in_trouble_since_ = steady_now();
    std::string text = where() + ": " + why;
    if (asked_for)
      text += ", wants a pause of " +
              std::to_string(std::chrono::duration_cast<std::chrono::seconds>(*asked_for).count()) +
              " s";
    bool is_over = false;
    {
      const Lock lock(shared_->mutex);
      is_over = shared_->is_given_up ||
                in_trouble_since_ + pause >= end_of_attempts(asked_for.has_value());
    }
    say(text + (is_over ? "; given up" : "; trying again"));
  }

  Instant end_of_attempts(bool is_asked_for) const TRACE_REQUIRES(shared_->mutex) {
    if (shared_->when_full == Uplink::WhenFull::DropOldest) return shared_->end;
    return std::min(shared_->end,
                    in_trouble_since_ + (is_asked_for ? kPatienceIfAsked : kPatience));
  }

  // False if there is no time for another attempt. The end is a reason to try at once, if the
  // server has not asked for the pause: it may have come back.
  bool waits(Duration pause, bool is_asked_for) {
    const Lock lock(shared_->mutex);
    const bool is_awaited = is_asked_for || shared_->is_ending;
    const Instant next = steady_now() + pause;
    while (true) {
      if (shared_->is_ending && !is_awaited) return true;
      if (next >= end_of_attempts(is_asked_for)) {
        shared_->is_given_up = true;
        shared_->changed.notify_all();
        return false;
      }
      if (!shared_->changed.wait_until(shared_->mutex, next)) return true;
    }
  }

  bool is_given_up() {
    const Lock lock(shared_->mutex);
    return shared_->is_given_up;
  }

  double random() { return std::uniform_real_distribution<>()(random_); }
  std::string where() const { return without_password(shared_->endpoint.url); }

  const std::shared_ptr<Uplink::Shared> shared_;
  HttpPost post_;
  std::minstd_rand random_;
  bool is_in_trouble_ = false;
  Instant in_trouble_since_{};
  std::string told_;  // why the last request was refused, or lacked items
};

}  // namespace

Uplink::Uplink(const Endpoint& endpoint, const char* items, WhenFull when_full)
    : shared_(std::make_shared<Shared>(endpoint, items, when_full)),
      thread_([shared = shared_] { Sender(shared).run(); }) {}

Uplink::~Uplink() { finish(Instant::min()); }

bool Uplink::put(Piece piece) {
  if (piece.items == 0 && piece.left_out == 0) return true;
  const Lock lock(shared_->mutex);
  shared_->sent.left_out += piece.left_out;
  if (shared_->when_full == WhenFull::Wait)
    while (shared_->waiting.lacks_room_for(piece) && !shared_->is_given_up)
      shared_->changed.wait(shared_->mutex);
  if (piece.items == 0) return !shared_->is_given_up;
  shared_->sent.lost += shared_->waiting.push(std::move(piece));
  shared_->changed.notify_all();
  return !shared_->is_given_up;
}

Sent Uplink::finish(Instant until) {
  const Sent sent = shared_->finish(until);
  if (!thread_.joinable()) return sent;
  if (sent.must_leave_at_once)
    thread_.detach();
  else
    thread_.join();
  return sent;
}

Sent Uplink::Shared::finish(Instant until) {
  const Lock lock(mutex);
  is_ending = true;
  end = until;
  changed.notify_all();
  wait_for_end(until);
  is_given_up = true;
  sent.lost += waiting.drop_all();
  wait_for_end(steady_now() + kUntilAbandoned);
  sent.lost += std::exchange(in_flight, 0);
  sent.must_leave_at_once = !has_ended;
  return sent;
}

}  // namespace pcp::trace::command::otlp
