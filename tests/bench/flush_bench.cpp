// SPDX-License-Identifier: LGPL-2.1-or-later
// A flush of a thousand tags: the time of the library's own thread, from Pending to the socket, and
// the bytes.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "link/connection.hpp"
#include "mmv/mmv.hpp"
#include "process/agent_session.hpp"
#include "support/add_records.hpp"
#include "tags/tag_registry.hpp"
#include "timing.hpp"
#include "wire/legacy.hpp"

namespace {

using namespace pcp::trace;
using namespace pcp::trace::client;

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

// An agent that greets on a Unix socket, acknowledges the batches of one connection and counts
// their bytes.
class Peer {
 public:
  Peer() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    ::unlink(address.sun_path);
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(listener_, 1);
    reader_ = std::thread([this] { read(); });
  }
  ~Peer() {
    ::unlink(path().c_str());
    ::close(listener_);
  }
  static std::string path() { return "/tmp/flush-bench." + std::to_string(::getpid()); }

  // Sets counters, all per tag: bins, bytes of its name, bytes of its share of a batch. Waits until
  // the client has hung up.
  void report(benchmark::State& state) {
    reader_.join();
    const auto per_tag = [this](std::size_t sum) {
      return static_cast<double>(sum) / static_cast<double>(tags_);
    };
    state.counters["bins"] = per_tag(bins_);
    state.counters["definition_bytes"] = per_tag(definition_bytes_);
    state.counters["bytes"] = per_tag(batch_bytes_);
  }

 private:
  void read() {
    const int connection = ::accept(listener_, nullptr, nullptr);
    std::string answer;
    wire::append_ack(answer, 1, static_cast<std::int32_t>(wire::kBatchVersion));
    wire::FrameReader reader(1 << 20);
    wire::Batch batch;
    for (;;) {
      if (::write(connection, answer.data(), answer.size()) < 0) break;
      answer.clear();
      constexpr std::size_t kBytes = 1 << 20;
      const ssize_t got = ::read(connection, reader.prepare(kBytes), kBytes);
      if (got <= 0) break;
      reader.commit(static_cast<std::size_t>(got));
      for (wire::Frame pdu; reader.next(pdu) == wire::FrameReader::Status::Frame;) {
        if (pdu.type == wire::PduType::Tags) definition_bytes_ += pdu.payload.size();
        if (pdu.type != wire::PduType::Batch || !wire::decode_batch(pdu.payload, batch)) continue;
        count(pdu.payload.size(), batch);
        wire::append_batch_ack(answer, 1, batch.sequence);
      }
    }
    ::close(connection);
  }
  void count(std::size_t bytes, const wire::Batch& batch) {
    batch_bytes_ += bytes;
    tags_ += batch.entries.size();
    for (const wire::DeltaEntry& entry : batch.entries)
      if (!entry.histogram.empty()) bins_ += count_bins(entry.histogram);
  }

  const int listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::thread reader_;
  std::size_t definition_bytes_ = 0;
  std::size_t batch_bytes_ = 0;
  std::size_t tags_ = 0;
  std::size_t bins_ = 0;
};

// The sending half of the flusher, without its timers.
class Flushing {
 public:
  Flushing() {
    options_.socket_path = Peer::path();
    options_.socket_only = true;
    check(connection_.open(find_endpoints(options_, Reach::All).front()) ? 0 : -errno);
    check(connection_.finish_connecting());
    while (!has_read()) continue;  // the greeting
  }

  // Sends all pending values as on a new connection, which needs the names, and waits for the
  // acknowledgement. Gives the thread's nanoseconds until the batch was sent.
  double flush() {
    session_.on_disconnected(kNow);
    welcome_.last_sequence = counters_.batches;
    std::string pdu;
    wire::append_welcome(pdu, 1, welcome_);
    constexpr std::size_t kHeaderBytes = 12;
    std::string out;
    session_.on_pdu({wire::PduType::Welcome, 1, std::string_view(pdu).substr(kHeaderBytes)}, kNow,
                    out);
    const double before = bench::thread_cpu_ns();
    session_.send_pending(pending().queued(), kNow, out);
    connection_.send(out);
    const double spent = bench::thread_cpu_ns() - before;
    while (!session_.has_settled(UINT64_MAX))
      if (has_read()) session_.on_pdu(read_, kNow, out);
    return spent;
  }

  Pending& pending() { return outbox_.pending; }

 private:
  static void check(int error) {
    if (error == 0) return;
    std::fprintf(stderr, "no connection: %d\n", error);
    std::exit(1);
  }
  // Waits for a PDU, and puts it into read_.
  bool has_read() {
    if (connection_.next(read_) == wire::FrameReader::Status::Frame) return true;
    pollfd awaited{connection_.descriptor(), connection_.events(), 0};
    ::poll(&awaited, 1, -1);
    check(connection_.write());
    check(connection_.read());
    return false;
  }

  static constexpr std::uint64_t kNow = 1'000'000'000;
  ClientOptions options_;
  OwnDescriptor socket_;
  Connection connection_{socket_};
  wire::Frame read_;
  Doorbell doorbell_;
  Recorders recorders_{doorbell_, 16};
  DeliveryCounters counters_;
  Outbox outbox_{recorders_, options_, counters_, [] { return wire::ClientCounters{}; }};
  AgentSession session_{outbox_, options_};
  wire::Welcome welcome_{
      .agent_instance = 1, .session_known = true, .max_pdu_bytes = 1 << 20, .features = {}};
};

void flush(benchmark::State& state) {
  Peer peer;
  std::vector<double> samples;
  {
    Flushing flushing;
    std::mt19937 random(1);
    std::lognormal_distribution<double> seconds(std::log(1e-4), 1.0);
    std::vector<Record> records;
    for (std::uint32_t tag = 0; tag < kTags; ++tag)
      for (int i = 0; i < state.range(0); ++i)
        records.emplace_back(intern_tag("flushed tag " + std::to_string(tag)), seconds(random),
                             RecordKind::Observe);
    for (auto _ : state) {
      add_records(flushing.pending(), records, 1);
      const double spent = flushing.flush();
      samples.push_back(spent);
      state.SetIterationTime(spent * 1e-9);
    }
  }
  state.counters["ns"] = bench::median(samples);
  peer.report(state);
}
BENCHMARK(flush)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->UseManualTime()->Iterations(bench::is_brief
                                                                                        ? 1
                                                                                        : 50);

// All values of a thousand transactions in their file, without the drain that adds them up.
void mmv(benchmark::State& state) {
  ClientOptions options;
  options.mmv = "bench";
  options.mmv_directory = "/tmp";
  std::array<OwnDescriptor, 2> descriptors;
  const auto file = Mmv::make(options, descriptors);
  OpenReport open;
  std::vector<double> samples;
  std::uint64_t now_ns = 1;
  for (auto _ : state) {
    for (std::uint32_t tag = 0; tag < kTags; ++tag) {
      const Pending::Fetched one{
          nullptr, {intern_tag("mmv tag " + std::to_string(tag)), 1.0, RecordKind::Transact}};
      file->totals().make_room(1);
      file->totals().add({&one, 1}, now_ns);
    }
    const double before = bench::thread_cpu_ns();
    file->publish(open, now_ns);
    samples.push_back(bench::thread_cpu_ns() - before);
    state.SetIterationTime(samples.back() * 1e-9);
    now_ns += 100'000'000;
  }
  file->finish();
  state.counters["ns"] = bench::median(samples);
}
BENCHMARK(mmv)->UseManualTime()->Iterations(bench::is_brief ? 1 : 500);

}  // namespace
