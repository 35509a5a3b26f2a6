// SPDX-License-Identifier: LGPL-2.1-or-later
// Listens for traced programs and feeds their data to the engine.
//
// Thread: the ingest thread, in an Asio loop. The main thread calls the public functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "base/result.hpp"
#include "collector/ingest/acceptor.hpp"
#include "collector/ingest/connections.hpp"
#include "collector/ingest/host_finder.hpp"
#include "collector/ingest/ingest_options.hpp"
#include "collector/ingest/listener.hpp"
#include "collector/ingest/rotation.hpp"

namespace pcp::trace::agent {

struct Shared;

class Server {
 public:
  Server(IngestOptions options, Shared& shared, LogLine log);
  ~Server();  // stops

  // See Collector.
  Result<void> listen();
  std::uint16_t port() const { return port_; }
  std::size_t max_connections() const { return connections_.max_talking(); }
  void start();
  void stop();
  bool is_quiet();
  void request_client_log();

 private:
  Result<void> listen_on_tcp();
  Result<void> listen_on_unix_socket();
  void accept_from(Descriptor listening);
  void tell_of_unknown_hosts();
  void find_hosts();

  void run();
  void tick();
  void enter_in_flight_again();
  void look_after_spans();
  void read_boxes();
  void answer(asio::posix::stream_descriptor& bell, const std::function<void()>& act);
  void tell_controls_soon();
  void list_clients();
  void begin_stop();

  IngestOptions options_;
  Shared& shared_;
  const LogLine log_;

  asio::io_context io_{1};
  asio::posix::stream_descriptor list_request_{io_};  // an eventfd
  asio::posix::stream_descriptor bell_{io_};          // an eventfd, too
  asio::steady_timer ticker_{io_};
  asio::steady_timer control_timer_{io_};
  asio::steady_timer stop_timer_{io_};
  Rotation rotation_{io_, shared_};

  UnixListener unix_listener_;
  std::list<Acceptor> acceptors_;
  std::uint16_t port_ = 0;

  DialogueContext context_{shared_, options_, LimitedLog(log_)};
  Connections connections_{io_, options_, context_};
  bool entering_ = false;  // enter_in_flight_again() will continue
  bool sweeping_ = false;  // look_after_spans() will continue
  bool reading_ = false;   // read_boxes() will continue
  bool telling_ = false;   // a round of tell_controls_soon() is not complete
  bool to_tell_again_ = false;
  Instant told_at_{};
  std::thread thread_;
  HostFinder host_finder_;
};

}  // namespace pcp::trace::agent
