// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes in the calls of traced programs and knows their numbers: the engine, and the server that
// feeds it on a thread of its own. Knows nothing of PCP: whoever has a Collector decides what
// becomes of the numbers.
//
// Thread: the main one. Its users take no lock; what it knows is copied out by a Reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collector/ingest/limited_log.hpp"
#include "collector/ingest/options.hpp"
#include "collector/reader.hpp"
#include "collector/spans/spans.hpp"
#include "wire/result.hpp"

namespace pcp::trace::agent {

class Collector {
 public:
  struct Options {
    EngineOptions engine{};
    IngestOptions ingest{};
    std::vector<KnownInstance> known{};           // from earlier lives
    Numbers reserved{};                           // given to no tag, nor any below
    std::size_t span_bytes = Spans::kUsualBytes;  // --span-memory: of those that wait for monitors
  };

  // `log` is called on the ingest thread, and by listen(); how often, is limited here.
  Collector(Options options, LogLine log, Time now);
  ~Collector();  // stops

  // Binds. Fails if nobody could connect: a busy TCP port, or without TCP no Unix socket either. A
  // Unix socket that cannot be made beside TCP is a line in the log.
  Result<void> listen();
  std::uint16_t port() const;  // the real one; 0 without TCP

  // How many may be connected at a time. Requires: listen() was called.
  std::size_t max_connections() const;

  void start();  // starts the ingest thread
  void stop();   // says BYE to clients, unlinks the Unix socket, ends the thread

  // Nobody is connected, or waits to be, and all that was sent is counted. Requires: it was
  // started, and not stopped.
  bool is_quiet();

  // Good until this goes, after stop() too.
  Reader reader() const;

  // Captures, and what they bring; as long as this is there.
  Spans& spans();

  // Forgets all values and instances; numbers stay with their tags as long as there is room.
  void reset(Time now);

  // Logs one line for each connected client, soon. Async-signal-safe.
  void request_client_log();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace pcp::trace::agent
