// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes the calls of traced programs and keeps their numbers: the engine, and the server that feeds
// the engine on its own thread. The collector does not know PCP: its owner decides how to use the
// numbers.
//
// Thread: the main one. Users take no lock; a Reader copies the data out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "collector/ingest/ingest_options.hpp"
#include "collector/ingest/limited_log.hpp"
#include "collector/reader.hpp"
#include "collector/spans/shared_spans.hpp"

namespace pcp::trace::agent {

class Collector {
 public:
  struct Options {
    EngineOptions engine{};
    IngestOptions ingest{};
    std::vector<KnownInstance> known{};  // from earlier runs
    Numbers reserved{};                  // up to these, no number is given to a tag
    std::size_t span_bytes =
        SharedSpans::kUsualBytes;  // --span-memory: for spans that wait for monitors
  };

  // `log` is called on the ingest thread, and by listen(). The collector limits how often.
  Collector(Options options, LogLine log, Instant now);
  ~Collector();  // stops

  // Binds. Fails if no client could connect: a busy TCP port, or without TCP no Unix socket. With
  // TCP a failing Unix socket is only a line in the log.
  Result<void> listen();
  std::uint16_t port() const;  // the actual port; 0 without TCP

  // The greatest number of open connections. Requires: listen() was called.
  std::size_t max_connections() const;

  void start();  // starts the ingest thread
  void stop();   // sends BYE to clients, unlinks the Unix socket, ends the thread

  // True if there is no connection, open or waiting, all received data is counted, and the black
  // boxes of processes that have died are read. Requires: started and not stopped.
  bool is_quiet();

  // Valid until this object is destroyed, also after stop().
  Reader reader() const;

  // Captures and their spans. Valid as long as this object.
  SharedSpans& spans();

  // See Engine::change_period().
  bool change_period(Duration period, Instant now);

  // Forgets all values and instances. Numbers stay with their tags as long as there is room.
  void reset(Instant now);

  // Asks for a log line about each connected client. Async-signal-safe.
  void request_client_log();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace pcp::trace::agent
