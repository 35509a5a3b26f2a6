// SPDX-License-Identifier: LGPL-2.1-or-later
// Listens for traced programs and feeds what they send to the engine. Everything here runs on one
// thread of its own, an Asio loop; start() and stop() are the main thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "collector/ingest/limited_log.hpp"
#include "collector/ingest/options.hpp"
#include "wire/result.hpp"

namespace pcp::trace::agent {

struct Shared;

class Server {
 public:
  Server(IngestOptions options, Shared& shared, LogLine log);
  ~Server();  // stops

  // As those of Collector.
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
