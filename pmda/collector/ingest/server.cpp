// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/server.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <future>
#include <list>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include "base/clock.hpp"
#include "collector/ingest/acceptor.hpp"
#include "collector/ingest/connection.hpp"
#include "collector/ingest/count.hpp"
#include "collector/ingest/descent.hpp"
#include "collector/ingest/host_finder.hpp"
#include "collector/ingest/listener.hpp"
#include "collector/ingest/rotation.hpp"
#include "collector/ingest/tcp_owner.hpp"
#include "collector/shared.hpp"
#include "pcp/trace.h"

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

// The share of all connections for one user: a third, so that a user with both the Unix socket and
// TCP leaves some for others. A small total may go to one user.
std::size_t share_of_a_user(std::size_t connections) {
  constexpr std::size_t kAnybodys = 1000;
  return std::max(kAnybodys, connections / 3);
}

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

struct Server::Implementation {
  Implementation(IngestOptions given, Shared& with, LogLine log_line);

  Result<void> listen();
  Result<void> listen_on_tcp();
  Result<void> listen_on_unix_socket();
  void accept_from(Descriptor listening);
  void start();
  void stop();
  bool is_quiet();

  void run();
  void tick();
  void enter_in_flight_again();
  void look_after_spans();
  void wait_for_bell();
  void tell_controls_soon();
  void tell_controls_after(std::uint64_t number);
  void release(Connection& connection);
  void wait_for_list_request();
  void list_clients();
  void list_clients_after(std::uint64_t number);
  void tell_of_unknown_hosts();
  void find_hosts();
  void begin_stop();
  void finish_stop_if_alone();

  struct OpenConnection {
    std::shared_ptr<Connection> connection;
    Admission admission;
  };

  void take(Descriptor socket, Peer peer);
  bool is_users(int socket, const Peer& peer) const;
  void receive(Connection& connection, OpenConnection& open, bool is_welcome);
  bool has_room_for(const Peer& peer) const;

  IngestOptions options;
  Shared& shared;
  LogLine log;
  LimitedLog limited_log{log};

  asio::io_context io{1};
  asio::posix::stream_descriptor list_request{io};  // an eventfd
  asio::posix::stream_descriptor bell{io};          // an eventfd, too
  asio::steady_timer ticker{io};
  asio::steady_timer control_timer{io};
  asio::steady_timer stop_timer{io};
  Rotation rotation{io, shared};

  UnixListener unix_listener;
  std::list<Acceptor> acceptors;
  std::uint16_t port = 0;
  std::size_t max_talking = 0;
  std::size_t max_talking_of_user = 0;
  std::size_t max_leaving = 0;

  DialogueContext context{shared, options};
  Connection::Host host;
  std::map<std::uint64_t, OpenConnection> connections;  // by connection number
  std::uint64_t last_number = 0;
  std::size_t talking = 0;                        // connections that are not leaving
  std::map<std::string, std::size_t> talking_of;  // the same per owner
  bool entering = false;                          // enter_in_flight_again() will continue
  bool sweeping = false;                          // look_after_spans() will continue
  bool telling = false;                           // a round of tell_controls_soon() is not complete
  bool to_tell_again = false;
  Instant told_at{};
  bool stopping = false;
  std::thread thread;
  HostFinder host_finder;
};

Server::Implementation::Implementation(IngestOptions given, Shared& with, LogLine log_line)
    : options(std::move(given)),
      shared(with),
      log(log_line),
      host{context,
           [this](const Peer& peer, const std::string& what) {
             limited_log.say("client " + peer.describe() + ": " + what, steady_now());
           },
           [this](Connection& connection) { release(connection); },
           [this] { tell_controls_soon(); },
           [this] { return connections.size() - talking <= max_leaving; },
           [this](std::uint64_t number) {
             connections.erase(number);
             finish_stop_if_alone();
           }} {
  options.max_pdu_bytes =
      std::max(options.max_pdu_bytes, static_cast<std::uint32_t>(wire::kLeastMaxPduBytes));
  context.agent_instance = random_number();
  context.pid = static_cast<std::uint32_t>(::getpid());
  context.end_connection = [this](std::uint64_t number) {
    const auto open = connections.find(number);
    if (open == connections.end()) return;
    const auto connection = open->second.connection;
    connection->close();
  };
  context.say = host.say;
  list_request.assign(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  bell.assign(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  shared.spans.set_bell([this] { ::eventfd_write(bell.native_handle(), 1); });
}

Result<void> Server::Implementation::listen() {
  const std::size_t descriptors = raise_descriptor_limit();
  const std::size_t for_peers = descriptors - std::min(descriptors, kOwnDescriptors);
  max_leaving = std::min<std::size_t>(1024, for_peers / 8);
  max_talking = std::min<std::size_t>(options.max_connections, for_peers - max_leaving);
  max_talking_of_user = share_of_a_user(max_talking);

  if (Result<void> tcp = listen_on_tcp(); !tcp) return tcp;
  if (Result<void> unix_socket = listen_on_unix_socket(); !unix_socket) return unix_socket;
  tell_of_unknown_hosts();
  return {};
}

Result<void> Server::Implementation::listen_on_tcp() {
  if (options.tcp == Tcp::None) return {};
  Result<TcpListeners> tcp = listen_tcp(options.tcp, options.port);
  if (!tcp) return tcp.error();
  port = tcp->port;
  for (Descriptor& socket : tcp->sockets) accept_from(std::move(socket));
  return {};
}

Result<void> Server::Implementation::listen_on_unix_socket() {
  if (options.socket_path.empty()) return {};
  const Result<void> opened = unix_listener.open(options.socket_path);
  if (opened) {
    accept_from(unix_listener.take_socket());
    return {};
  }
  const std::string line =
      "cannot listen on the Unix socket " + options.socket_path + ": " + opened.error().message;
  if (options.tcp == Tcp::None) return Error{line};
  log(line + "; clients on this machine can connect to TCP port " + std::to_string(port));
  return {};
}

void Server::Implementation::accept_from(Descriptor listening) {
  acceptors.emplace_back(
      io, std::move(listening),
      [this](Descriptor connected, Peer peer) { take(std::move(connected), std::move(peer)); },
      [this](int error) {
        limited_log.say(
            std::string("cannot take more connections for now: ") + std::strerror(error),
            steady_now());
      });
}

void Server::Implementation::tell_of_unknown_hosts() {
  for (const AccessList::Waiting& waiting : options.access.waiting()) log(waiting.problem);
}

void Server::Implementation::find_hosts() {
  host_finder.start(options.access.waiting(), options.access.look_up(), options.look_up_pause,
                    [this](const AccessList::Waiting& waiting, const HostPatterns& addresses) {
                      asio::post(io, [this, waiting, addresses] {
                        const Result<void> taken = options.access.found(waiting.rule, addresses);
                        log(taken ? "access rules: \"" + waiting.name + "\" has been found"
                                  : taken.error().message);
                      });
                    });
}

void Server::Implementation::start() {
  // Signals belong to the main thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  find_hosts();
  thread = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Server::Implementation::run() {
  pthread_setname_np(pthread_self(), "ingest");
  asio::post(io, [this] {
    for (Acceptor& acceptor : acceptors) acceptor.start();
    rotation.start();
    wait_for_list_request();
    wait_for_bell();
    tick();
  });
  for (;;) {
    try {
      io.run();
      break;
    } catch (const std::exception& problem) {
      limited_log.say(std::string("trouble in the ingest thread: ") + problem.what(), steady_now());
    }
  }
  if (!options.vanish_at_end) return;
  Turn turn(shared);
  context.sessions.in_flight().give_up_all(turn);
}

// Periodic work.
void Server::Implementation::tick() {
  ticker.expires_after(std::min(kLongestTick, options.unfinished_pdu / 4 + kLongestTick / 100));
  ticker.async_wait([this](const asio::error_code& error) {
    if (!error) tick();
  });

  const Instant now = steady_now();
  for (auto next = connections.begin(); next != connections.end();) {
    const auto connection = (next++)->second.connection;
    connection->check_time(now);
  }
  {
    Turn turn(shared);
    context.sessions.forget_old(now, turn);
  }
  if (!entering) enter_in_flight_again();
  if (!sweeping) look_after_spans();
  shared.counters.busy_ns.store(thread_cpu_ns(), std::memory_order_relaxed);
  limited_log.catch_up(now);
}

// Enters some of the transactions that a reset cleared. Peers are served before the next step.
void Server::Implementation::enter_in_flight_again() {
  entering = false;
  Turn turn(shared);
  entering = context.sessions.in_flight().enter_again(turn, kMostEnteredAtOnce);
  if (entering) asio::post(io, [this] { enter_in_flight_again(); });
}

// Frees some spans that no monitor waits for. Peers are served before the next step.
void Server::Implementation::look_after_spans() {
  sweeping = context.spans.look(steady_now());
  if (context.spans.has_changed()) tell_controls_soon();
  if (sweeping) asio::post(io, [this] { look_after_spans(); });
}

// The main thread rings the bell.
void Server::Implementation::wait_for_bell() {
  bell.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
    if (error) return;
    eventfd_t rung = 0;
    ::eventfd_read(bell.native_handle(), &rung);
    wait_for_bell();
    if (context.spans.has_changed()) tell_controls_soon();
  });
}

void Server::Implementation::tell_controls_soon() {
  to_tell_again = telling;
  if (telling) return;
  telling = true;
  control_timer.expires_after(std::max(told_at + kControlPause - steady_now(), Duration{}));
  control_timer.async_wait([this](const asio::error_code& error) {
    if (error) return;
    told_at = steady_now();
    tell_controls_after(0);
  });
}

// Tells some connections, and continues later, like list_clients_after().
void Server::Implementation::tell_controls_after(std::uint64_t number) {
  auto next = connections.upper_bound(number);
  for (int i = 0; i < kMostToldAtOnce && next != connections.end(); ++i) {
    number = next->first;
    const auto connection = (next++)->second.connection;
    connection->offer_control();
  }
  if (next != connections.end()) {
    asio::post(io, [this, number] { tell_controls_after(number); });
    return;
  }
  telling = false;
  if (std::exchange(to_tell_again, false)) tell_controls_soon();
}

void Server::Implementation::take(Descriptor socket, Peer peer) {
  peer.number = ++last_number;
  const bool is_welcome = is_users(socket.get(), peer);
  const auto connection = std::make_shared<Connection>(io, std::move(socket), peer, host);
  OpenConnection& open = connections[peer.number];
  open.connection = connection;
  try {
    receive(*connection, open, is_welcome);
  } catch (...) {
    connection->close();
    throw;
  }
}

bool Server::Implementation::is_users(int socket, const Peer& peer) const {
  if (!options.only_user) return true;
  if (peer.uid == kUnknownUid) return tcp_owner(socket) == options.only_user;
  return peer.uid == options.only_user || is_descendant(peer.pid, peer.uid);
}

void Server::Implementation::receive(Connection& connection, OpenConnection& open,
                                     bool is_welcome) {
  open.admission = is_welcome ? options.access.acquire(connection.peer().address)
                              : Admission{Access::NotPermitted, {}};
  Access access = open.admission.access;
  if (access == Access::Allowed && !has_room_for(connection.peer())) {
    options.access.release(open.admission);
    access = Access::TooManyConnections;
  }
  switch (access) {
    case Access::Allowed:
      ++talking_of[connection.peer().owner()];  // may throw, so before the other counts
      ++talking;
      count(shared.counters.accepted);
      shared.counters.connections.store(talking, std::memory_order_relaxed);
      connection.greet();
      break;
    case Access::NotPermitted:
      count(shared.counters.refused_permission);
      host.say(connection.peer(), is_welcome ? "refused: the access rules (-A) do not let it in"
                                             : "refused: it is not this user's");
      connection.refuse(PMTRACE_ERR_PERMISSION);
      break;
    case Access::TooManyConnections:
      count(shared.counters.refused_limit);
      host.say(connection.peer(), "refused: too many connections");
      connection.refuse(PMTRACE_ERR_CONNLIMIT);
      break;
  }
}

bool Server::Implementation::has_room_for(const Peer& peer) const {
  const auto of_user = talking_of.find(peer.owner());
  return talking < max_talking &&
         (of_user == talking_of.end() || of_user->second < max_talking_of_user);
}

void Server::Implementation::release(Connection& connection) {
  options.access.release(connections.at(connection.peer().number).admission);
  --talking;
  const auto of_user = talking_of.find(connection.peer().owner());
  if (--of_user->second == 0) talking_of.erase(of_user);
  shared.counters.connections.store(talking, std::memory_order_relaxed);
}

void Server::Implementation::wait_for_list_request() {
  list_request.async_wait(asio::posix::stream_descriptor::wait_read,
                          [this](const asio::error_code& error) {
                            if (error) return;
                            eventfd_t requests = 0;
                            ::eventfd_read(list_request.native_handle(), &requests);
                            wait_for_list_request();
                            list_clients();
                          });
}

void Server::Implementation::list_clients() {
  log("clients connected: " + std::to_string(talking));
  list_clients_after(0);
}

// Lists some clients. Peers are served before the next step.
void Server::Implementation::list_clients_after(std::uint64_t number) {
  const Instant now = steady_now();
  auto next = connections.upper_bound(number);
  for (int i = 0; i < kMostListedAtOnce && next != connections.end(); ++i, ++next) {
    const Connection& connection = *next->second.connection;
    number = next->first;
    if (connection.talking()) log("client " + connection.describe(now));
  }
  if (next != connections.end()) asio::post(io, [this, number] { list_clients_after(number); });
}

void Server::Implementation::stop() {
  host_finder.stop();
  if (thread.joinable()) {
    asio::post(io, [this] { begin_stop(); });
    thread.join();
  }
  acceptors.clear();
  connections.clear();
  unix_listener.close();
}

// A peer that has ended may still wait to be accepted, with all data that it sent.
bool Server::Implementation::is_quiet() {
  std::promise<bool> quiet;
  asio::post(io, [this, &quiet] {
    for (Acceptor& acceptor : acceptors) acceptor.take_waiting();
    quiet.set_value(connections.empty());
  });
  return quiet.get_future().get();
}

void Server::Implementation::begin_stop() {
  stopping = true;
  // The timer comes first, because the rest may run out of memory.
  stop_timer.expires_after(kLongestStop);
  stop_timer.async_wait([this](const asio::error_code& error) {
    if (!error) io.stop();
  });
  for (Acceptor& acceptor : acceptors) acceptor.stop();
  for (auto next = connections.begin(); next != connections.end();) {
    const auto connection = (next++)->second.connection;
    if (!connection->talking()) continue;
    if (connection->speaks_version_2())
      connection->leave(wire::ByeReason::Done);
    else
      connection->close();
  }
  finish_stop_if_alone();
}

void Server::Implementation::finish_stop_if_alone() {
  if (stopping && connections.empty()) io.stop();
}

Server::Server(IngestOptions options, Shared& shared, LogLine log)
    : implementation_(std::make_unique<Implementation>(std::move(options), shared, log)) {}

Server::~Server() { stop(); }

Result<void> Server::listen() { return implementation_->listen(); }
std::uint16_t Server::port() const { return implementation_->port; }
std::size_t Server::max_connections() const { return implementation_->max_talking; }
void Server::start() { implementation_->start(); }
void Server::stop() { implementation_->stop(); }
bool Server::is_quiet() { return implementation_->is_quiet(); }

void Server::request_client_log() {
  ::eventfd_write(implementation_->list_request.native_handle(), 1);
}

}  // namespace pcp::trace::agent
