// SPDX-License-Identifier: LGPL-2.1-or-later
// The work of the library's own thread: the cost of a record, drained, added up and binned; a flush
// of a thousand tags, from Pending to the socket, and its bytes; and their MMV file.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <random>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "bench.hpp"
#include "link/connection.hpp"
#include "mmv/mmv.hpp"
#include "process/agent_session.hpp"
#include "process/flusher.hpp"
#include "support/add_records.hpp"
#include "support/encoded.hpp"
#include "support/pdus.hpp"
#include "tags/tag_registry.hpp"

namespace {

using namespace pcp::trace;
using namespace pcp::trace::client;
using bench::is_brief;

const Tag* tag_of(const char* kind, std::uint32_t number) {
  return intern_tag(kind + std::to_string(number));
}

// Latencies around a tenth of a millisecond.
class Latencies {
 public:
  double next() { return seconds_(random); }
  std::mt19937 random{1};

 private:
  std::lognormal_distribution<double> seconds_{std::log(1e-4), 1.0};
};

// Sets the counter `ns`: the median over all iterations of work(), which gives what it took, a part
// of it.
template <typename Work>
void measure(benchmark::State& state, int parts, Work work) {
  std::vector<double> samples;
  for (auto _ : state) {
    const double spent = work();
    samples.push_back(spent / parts);
    state.SetIterationTime(spent * 1e-9);
  }
  state.counters["ns"] = bench::median(samples);
}

// Draining ----------------------------------------------------------------------------------------

constexpr int kRecords = 2048;  // half of a queue: the flusher's wake-up mark

// A program's records, tags in random order.
class Workload {
 public:
  explicit Workload(int tag_count) {
    Latencies latencies;
    std::uniform_int_distribution<std::uint32_t> any_tag(0, static_cast<unsigned>(tag_count - 1));
    for (Call& call : calls_)
      call = {tag_of("workload tag ", any_tag(latencies.random)), latencies.next()};
  }

  struct Call {
    const Tag* tag;
    double value;
  };
  const Call& next() { return calls_[position_++ % calls_.size()]; }

 private:
  std::array<Call, 1 << 14> calls_;
  std::size_t position_ = 0;
};

// A thread that records into a queue while the flusher's thread waits: as in production, the
// records are in the cache of another processor.
class RecordingThread {
 public:
  RecordingThread(int tag_count, RecordKind kind) : workload_(tag_count), kind_(kind) {}
  ~RecordingThread() {
    ends_ = true;
    wanted_.release();
  }
  Recorder& record() {
    wanted_.release();
    done_.acquire();
    return recorder_;
  }

 private:
  void run() {
    for (wanted_.acquire(); !ends_; wanted_.acquire()) {
      for (int i = 0; i < kRecords; ++i) {
        const Workload::Call& call = workload_.next();
        counted_ += call.value;
        recorder_.record(call.tag, kind_ == RecordKind::Counter ? counted_ : call.value, kind_);
      }
      done_.release();
    }
  }

  Workload workload_;
  const RecordKind kind_;
  double counted_ = 0;  // a counter only grows
  SharedParts shared_;
  Doorbell doorbell_;
  Recorder recorder_{shared_, doorbell_, 2 * kRecords};
  std::binary_semaphore wanted_{0};
  std::binary_semaphore done_{0};
  bool ends_ = false;
  std::jthread thread_{[this] { run(); }};
};

void drain(benchmark::State& state, RecordKind kind) {
  constexpr int kDrainsPerFlush = 48;  // a million records a second, and ten flushes
  RecordingThread source(static_cast<int>(state.range(0)), kind);
  Pending pending;
  int takes = 0;
  Drain drain(pending);
  measure(state, kRecords, [&] {
    if (takes++ % kDrainsPerFlush == 0)
      while (!pending.empty()) pending.pop();
    Recorder& recorder = source.record();
    return bench::cpu_ns_of([&] { drain.drain(recorder, 1); });
  });
}

void histogram_add(benchmark::State& state) {
  Workload workload(1);
  Histogram histogram;
  measure(state, kRecords, [&] {
    return bench::cpu_ns_of([&] {
      for (int i = 0; i < kRecords; ++i) histogram.add(workload.next().value);
    });
  });
  benchmark::DoNotOptimize(histogram);
}

// Flushing ----------------------------------------------------------------------------------------

constexpr std::uint32_t kTags = 1000;

std::size_t count_bins(std::string_view packed) {
  const auto skip_number = [&packed] {
    while ((packed.front() & 0x80) != 0) packed.remove_prefix(1);
    packed.remove_prefix(1);
  };
  std::size_t bins = 0;
  packed.remove_prefix(1);  // coarseness
  skip_number();            // of the first bin
  for (; !packed.empty(); ++bins) {
    const bool has_gap = (packed.front() & 1) != 0;
    skip_number();
    if (has_gap) skip_number();
  }
  return bins;
}

// Takes all bytes of one connection on a Unix socket.
class Peer {
 public:
  Peer() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    ::unlink(address.sun_path);
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(listener_, 1);
    reader_ = std::thread([this] {
      std::vector<char> bytes(1 << 20);
      const int connection = ::accept(listener_, nullptr, nullptr);
      while (::read(connection, bytes.data(), bytes.size()) > 0) continue;
      ::close(connection);
    });
  }
  ~Peer() {
    reader_.join();
    ::unlink(path().c_str());
    ::close(listener_);
  }
  static std::string path() { return "/tmp/flush-bench." + std::to_string(::getpid()); }

 private:
  const int listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::thread reader_;
};

// The sending half of the flusher, without its timers, and the agent's answers.
class Flushing {
 public:
  Flushing() {
    options_.socket_path = Peer::path();
    options_.socket_only = true;
    check(connection_.open(find_endpoints(options_, Reach::All).front()) ? 0 : -errno);
    check(connection_.finish_connecting());
  }

  // Sends all pending values as on a new connection, which needs the names, and acknowledges them.
  // Gives the thread's nanoseconds until the batch was sent.
  double flush() {
    session_.on_disconnected(kNow);
    welcome_.last_sequence = counters_.batches;
    answer(wire::pdu_of(wire::append_welcome, welcome_));
    std::string out;
    const double spent = bench::cpu_ns_of([&] {
      session_.send_pending(pending().queued(), kNow, out);
      connection_.send(out);
    });
    for (const KeptPdu& pdu : take_pdus(reader_, out)) take(pdu);
    while ((connection_.events() & POLLOUT) != 0) {
      pollfd awaited{connection_.descriptor(), POLLOUT, 0};
      ::poll(&awaited, 1, -1);
      check(connection_.write());
    }
    check(session_.has_settled(UINT64_MAX) ? 0 : -EBUSY);
    return spent;
  }

  Pending& pending() { return outbox_.pending; }

  // Sets counters, all per tag: bins, bytes of its name, bytes of its share of a batch.
  void report(benchmark::State& state) {
    state.counters["bins"] = bins_ / tags_;
    state.counters["definition_bytes"] = definition_bytes_ / tags_;
    state.counters["bytes"] = batch_bytes_ / tags_;
  }

 private:
  static void check(int error) {
    if (error == 0) return;
    std::fprintf(stderr, "flush: %d\n", error);
    std::exit(1);
  }
  void answer(const std::string& pdu) {
    std::string out;
    session_.on_pdu({wire::type_of(pdu), wire::kPid, wire::payload_of(pdu)}, kNow, out);
  }
  void take(const KeptPdu& pdu) {
    const auto bytes = static_cast<double>(pdu.payload.size());
    wire::Batch batch;
    if (pdu.type == wire::PduType::Tags) definition_bytes_ += bytes;
    if (pdu.type != wire::PduType::Batch || !wire::decode_batch(pdu.payload, batch)) return;
    batch_bytes_ += bytes;
    tags_ += static_cast<double>(batch.entries.size());
    for (const wire::DeltaEntry& entry : batch.entries)
      if (!entry.histogram.empty()) bins_ += static_cast<double>(count_bins(entry.histogram));
    answer(wire::pdu_of(wire::append_batch_ack, batch.sequence));
  }

  static constexpr std::uint64_t kNow = 1'000'000'000;
  ClientOptions options_;
  OwnDescriptor socket_;
  Connection connection_{socket_};
  Doorbell doorbell_;
  Recorders recorders_{doorbell_, 16};
  DeliveryCounters counters_;
  Outbox outbox_{recorders_, options_, counters_, [] { return wire::ClientCounters{}; }};
  AgentSession session_{outbox_, options_};
  wire::Welcome welcome_{
      .agent_instance = 1, .session_known = true, .max_pdu_bytes = 1 << 20, .features = {}};
  wire::FrameReader reader_{1 << 20};
  double definition_bytes_ = 0;
  double batch_bytes_ = 0;
  double tags_ = 0;
  double bins_ = 0;
};

void flush(benchmark::State& state) {
  const Peer peer;
  Flushing flushing;
  Latencies latencies;
  std::vector<Record> records;
  for (std::uint32_t tag = 0; tag < kTags; ++tag)
    for (int i = 0; i < state.range(0); ++i)
      records.emplace_back(tag_of("flushed tag ", tag), latencies.next(), RecordKind::Observe);
  measure(state, 1, [&] {
    add_records(flushing.pending(), records, 1);
    return flushing.flush();
  });
  flushing.report(state);
}

// All values of a thousand transactions in their file, without the drain that adds them up.
void mmv(benchmark::State& state) {
  ClientOptions options;
  options.mmv = "bench";
  options.mmv_directory = "/tmp";
  std::array<OwnDescriptor, 2> descriptors;
  const auto file = Mmv::make(options, descriptors);
  OpenReport open;
  std::uint64_t now_ns = 1;
  measure(state, 1, [&] {
    now_ns += 100'000'000;
    for (std::uint32_t tag = 0; tag < kTags; ++tag) {
      const Pending::Fetched one{nullptr, {tag_of("mmv tag ", tag), 1.0, RecordKind::Transact}};
      file->totals().make_room(1);
      file->totals().add({&one, 1}, now_ns);
    }
    return bench::cpu_ns_of([&] { file->publish(open, now_ns); });
  });
  file->finish();
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [name, kind] : {std::pair{"drain/observations", RecordKind::Observe},
                                   {"drain/transactions", RecordKind::Transact},
                                   {"drain/points", RecordKind::Point},
                                   {"drain/counters", RecordKind::Counter},
                                   {"drain/increments", RecordKind::Add}}) {
    auto* const row = bench::row(name, [kind](benchmark::State& state) { drain(state, kind); });
    for (const int tags : {1, 100, 1000}) row->Arg(tags)->Iterations(is_brief ? 1 : 2000);
  }
  bench::row("histogram_add", histogram_add)->Iterations(is_brief ? 1 : 2000);
  for (const int records : {1, 10, 100, 1000})
    bench::row("flush", flush)->Arg(records)->Iterations(is_brief ? 1 : 50);
  bench::row("mmv", mmv)->Iterations(is_brief ? 1 : 500);
  return bench::run(argc, argv);
}
