// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/server.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <future>
#include <random>
#include <utility>

#include <asio/post.hpp>

#include "base/clock.hpp"
#include "collector/ingest/peer_connection.hpp"
#include "collector/shared.hpp"

namespace pcp::trace::agent {

namespace {

// Descriptors reserved for other uses: pmcd's pipes, logs, temporary files.
constexpr std::size_t kOwnDescriptors = 64;

// How long stop() waits for clients to read their last answers.
constexpr std::chrono::milliseconds kLongestStop{500};

constexpr std::chrono::milliseconds kLongestTick{1000};

constexpr int kMostListedAtOnce = 100;

// Limits CONTROLs to ten per second and process, however often monitors change captures; and the
// connections told at once, before peers are read again.
constexpr Duration kControlPause = std::chrono::milliseconds(100);
constexpr int kMostToldAtOnce = 500;

// Takes about a millisecond, in which no peer is read.
constexpr std::size_t kMostEnteredAtOnce = 1000;

std::uint64_t random_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// Raises the limit of descriptors to the system's maximum, and returns it.
std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace

Server::Server(IngestOptions options, Shared& shared, LogLine log)
    : options_(std::move(options)), shared_(shared), log_(log) {
  options_.max_pdu_bytes =
      std::max(options_.max_pdu_bytes, static_cast<std::uint32_t>(wire::kLeastMaxPduBytes));
  context_.agent_instance = random_number();
  context_.pid = static_cast<std::uint32_t>(::getpid());
  list_request_.assign(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  bell_.assign(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  shared_.spans.set_bell([this] { ::eventfd_write(bell_.native_handle(), 1); });
}

Result<void> Server::listen() {
  const std::size_t descriptors = raise_descriptor_limit();
  connections_.set_limits(descriptors - std::min(descriptors, kOwnDescriptors));

  if (Result<void> tcp = listen_on_tcp(); !tcp) return tcp;
  if (Result<void> unix_socket = listen_on_unix_socket(); !unix_socket) return unix_socket;
  tell_of_unknown_hosts();
  return {};
}

Result<void> Server::listen_on_tcp() {
  if (options_.tcp == Tcp::None) return {};
  Result<TcpListeners> tcp = listen_tcp(options_.tcp, options_.port);
  if (!tcp) return tcp.error();
  port_ = tcp->port;
  for (Descriptor& socket : tcp->sockets) accept_from(std::move(socket));
  return {};
}

Result<void> Server::listen_on_unix_socket() {
  if (options_.socket_path.empty()) return {};
  const Result<void> opened = unix_listener_.open(options_.socket_path);
  if (opened) {
    accept_from(unix_listener_.take_socket());
    return {};
  }
  const std::string line =
      "cannot listen on the Unix socket " + options_.socket_path + ": " + opened.error().message;
  if (options_.tcp == Tcp::None) return Error{line};
  log_(line + "; clients on this machine can connect to TCP port " + std::to_string(port_));
  return {};
}

void Server::accept_from(Descriptor listening) {
  acceptors_.emplace_back(
      io_, std::move(listening),
      [this](Descriptor connected, Peer peer) {
        connections_.accept(std::move(connected), std::move(peer));
      },
      [this](int error) {
        context_.log.say(
            std::string("cannot accept more connections for now: ") + std::strerror(error),
            steady_now());
      });
}

void Server::tell_of_unknown_hosts() {
  for (const AccessList::Waiting& waiting : options_.access.waiting()) log_(waiting.problem);
}

void Server::find_hosts() {
  host_finder_.start(options_.access.waiting(), options_.access.look_up(), options_.look_up_pause,
                     [this](const AccessList::Waiting& waiting, const HostPatterns& addresses) {
                       asio::post(io_, [this, waiting, addresses] {
                         const Result<void> taken = options_.access.found(waiting.rule, addresses);
                         log_(taken ? "access rules: \"" + waiting.name + "\" has been found"
                                    : taken.error().message);
                       });
                     });
}

void Server::start() {
  // Signals belong to the main thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  find_hosts();
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Server::run() {
  pthread_setname_np(pthread_self(), "ingest");
  asio::post(io_, [this] {
    for (Acceptor& acceptor : acceptors_) acceptor.start();
    rotation_.start();
    answer(list_request_, [this] { list_clients(); });
    answer(bell_, [this] {
      if (context_.spans.has_changed()) tell_controls_soon();
    });
    tick();
  });
  for (;;) {
    try {
      io_.run();
      break;
    } catch (const std::exception& problem) {
      context_.log.say(std::string("error in the ingest thread: ") + problem.what(), steady_now());
    }
  }
  if (!options_.vanish_at_end) return;
  Turn turn(shared_);
  context_.sessions.in_flight().give_up_all(turn);
}

// Periodic work.
void Server::tick() {
  ticker_.expires_after(std::min(kLongestTick, options_.unfinished_pdu / 4 + kLongestTick / 100));
  ticker_.async_wait([this](const asio::error_code& error) {
    if (!error) tick();
  });

  const Instant now = steady_now();
  connections_.check_time(now);
  {
    Turn turn(shared_);
    context_.sessions.forget_old(now, turn);
  }
  if (!entering_) enter_in_flight_again();
  if (!sweeping_) look_after_spans();
  if (!reading_) read_boxes();
  shared_.counters.busy_ns.store(thread_cpu_ns(), std::memory_order_relaxed);
  context_.log.catch_up(now);
}

// Enters some of the transactions that a reset cleared. Peers are served before the next step.
void Server::enter_in_flight_again() {
  entering_ = false;
  Turn turn(shared_);
  entering_ = context_.sessions.in_flight().enter_again(turn, kMostEnteredAtOnce);
  if (entering_) asio::post(io_, [this] { enter_in_flight_again(); });
}

// Frees some spans that no monitor waits for. Peers are served before the next step.
void Server::look_after_spans() {
  sweeping_ = context_.spans.tick(steady_now());
  if (context_.spans.has_changed()) tell_controls_soon();
  if (sweeping_) asio::post(io_, [this] { look_after_spans(); });
}

// Reads a part of what processes that have died left. Peers are served before the next step.
void Server::read_boxes() {
  reading_ = context_.boxes.read_on(steady_now());
  if (reading_) asio::post(io_, [this] { read_boxes(); });
}

// Calls act() each time when the main thread rings this eventfd.
void Server::answer(asio::posix::stream_descriptor& bell, const std::function<void()>& act) {
  bell.async_wait(asio::posix::stream_descriptor::wait_read,
                  [this, &bell, act](const asio::error_code& error) {
                    if (error) return;
                    eventfd_t rung = 0;
                    ::eventfd_read(bell.native_handle(), &rung);
                    answer(bell, act);
                    act();
                  });
}

void Server::tell_controls_soon() {
  to_tell_again_ = telling_;
  if (telling_) return;
  telling_ = true;
  control_timer_.expires_after(std::max(told_at_ + kControlPause - steady_now(), Duration{}));
  control_timer_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    told_at_ = steady_now();
    connections_.visit(
        kMostToldAtOnce, [](PeerConnection& connection) { connection.offer_control(); },
        [this] {
          telling_ = false;
          if (std::exchange(to_tell_again_, false)) tell_controls_soon();
        });
  });
}

void Server::list_clients() {
  log_("clients connected: " + std::to_string(connections_.talking()));
  connections_.visit(
      kMostListedAtOnce,
      [this](PeerConnection& connection) {
        if (connection.is_talking()) log_("client " + connection.describe(steady_now()));
      },
      [] {});
}

void Server::stop() {
  host_finder_.stop();
  if (thread_.joinable()) {
    asio::post(io_, [this] { begin_stop(); });
    thread_.join();
  }
  acceptors_.clear();
  unix_listener_.close();
}

// All that processes have left must be read. A peer that has ended may still wait to be accepted,
// with all data that it sent. If none can be accepted for want of memory, one may wait.
bool Server::is_quiet() {
  std::promise<bool> quiet;
  asio::post(io_, [this, &quiet] {
    bool are_all_accepted = true;
    try {
      for (Acceptor& acceptor : acceptors_) are_all_accepted &= acceptor.accept_waiting();
    } catch (const std::exception&) {
      are_all_accepted = false;
    }
    if (!reading_) read_boxes();
    quiet.set_value(are_all_accepted && connections_.empty() && !reading_);
  });
  return quiet.get_future().get();
}

void Server::begin_stop() {
  // The timer comes first, because the rest may run out of memory.
  stop_timer_.expires_after(kLongestStop);
  stop_timer_.async_wait([this](const asio::error_code& error) {
    if (!error) io_.stop();
  });
  for (Acceptor& acceptor : acceptors_) acceptor.stop();
  connections_.end_all();
}

Server::~Server() { stop(); }

void Server::request_client_log() { ::eventfd_write(list_request_.native_handle(), 1); }

}  // namespace pcp::trace::agent
