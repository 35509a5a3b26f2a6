// SPDX-License-Identifier: LGPL-2.1-or-later
// Listens for traced programs and feeds what they send to the engine. Everything here runs on one
// thread of its own, an Asio loop; start() and stop() are the main thread's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collector/ingest/limited_log.hpp"
#include "collector/ingest/options.hpp"
#include "collector/shared.hpp"
#include "wire/result.hpp"

namespace pcp::trace::agent {

class Server {
 public:
  // `log` is called on the ingest thread, and by listen(); how often, is limited here.
  Server(IngestOptions options, Shared& shared, LogLine log);
  ~Server();  // stops

  // Binds. Fails if the agent cannot run: a busy TCP port. A Unix socket that cannot be made is a
  // line in the log.
  Result<void> listen();
  std::uint16_t port() const;  // the real one

  void start();  // starts the thread
  void stop();   // says BYE to clients, unlinks the Unix socket, ends the thread

  // Logs one line for each connected client, soon. Async-signal-safe.
  void request_client_log();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace pcp::trace::agent
