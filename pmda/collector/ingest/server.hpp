// SPDX-License-Identifier: LGPL-2.1-or-later
// Listens for traced programs and feeds their data to the engine. Everything here runs on one
// thread, in an Asio loop; the main thread calls start() and stop().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "collector/ingest/limited_log.hpp"
#include "collector/ingest/options.hpp"

namespace pcp::trace::agent {

struct Shared;

class Server {
 public:
  Server(IngestOptions options, Shared& shared, LogLine log);
  ~Server();  // stops

  // See Collector.
  Result<void> listen();
  std::uint16_t port() const;
  std::size_t max_connections() const;

  void start();
  void stop();
  bool is_quiet();
  void request_client_log();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace pcp::trace::agent
