// Listens for traced programs and feeds what they send to the engine. Everything here runs on one
// thread of its own, an Asio loop; start() and stop() are the main thread's.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/shared.hpp"
#include "ingest/access.hpp"

namespace pcp::trace::agent {

struct IngestOptions {
  std::uint16_t port = 4323;   // TCP, on all IPv4 and IPv6 addresses; 0: any free one
  std::string socket_path;     // Unix socket; empty: none
  AccessList access;

  // Limits. A peer that goes over one loses its connection, except where another word is said.
  std::uint32_t max_pdu_bytes = 1u << 20;
  std::uint32_t max_tags_per_session = 100'000;
  std::uint32_t max_label_bytes = 16 * 1024;
  std::uint32_t max_connections = 20'000;
  std::uint32_t max_sessions_per_user = 10'000;
  std::chrono::seconds unfinished_pdu{30};
  std::chrono::seconds remember_session{3600};  // after its connection has gone without a BYE
};

// Says one line to the agent's log. Called on the ingest thread; rate-limited by the caller.
using LogLine = void (*)(const std::string&);

class Server {
 public:
  Server(IngestOptions options, Shared& shared, LogLine log);
  ~Server();  // stops

  // Binds. Gives an empty string, or the one line that explains why the agent cannot run: a busy TCP
  // port. A Unix socket that cannot be made is a line in the log.
  std::string listen();
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
