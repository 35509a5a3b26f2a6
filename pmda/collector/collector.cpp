// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/collector.hpp"

#include <utility>

#include "base/clock.hpp"
#include "base/clock_difference.hpp"
#include "collector/ingest/server.hpp"
#include "collector/shared.hpp"

namespace pcp::trace::agent {

struct Collector::Parts {
  Parts(Options options, LogLine log, Instant now)
      : shared(options.engine, options.known, now,
               WallTime(now.time_since_epoch() + wall_minus_steady()), options.span_bytes),
        server(std::move(options.ingest), shared, log) {
    shared.engine.begin_numbers_after(options.reserved);
  }

  Shared shared;
  Server server;
};

Collector::Collector(Options options, LogLine log, Instant now)
    : parts_(std::make_unique<Parts>(std::move(options), log, now)) {}

Collector::~Collector() = default;

Result<void> Collector::listen() { return parts_->server.listen(); }
std::uint16_t Collector::port() const { return parts_->server.port(); }
std::size_t Collector::max_connections() const { return parts_->server.max_connections(); }
void Collector::start() { parts_->server.start(); }
void Collector::stop() { parts_->server.stop(); }
bool Collector::is_quiet() { return parts_->server.is_quiet(); }

SharedSpans& Collector::spans() { return parts_->shared.spans; }

Reader Collector::reader() const { return Reader(parts_->shared); }

void Collector::reset(Instant now) {
  const Lock lock(parts_->shared.mutex);
  parts_->shared.engine.reset(now);
}

bool Collector::change_period(Duration period, Instant now) {
  const Lock lock(parts_->shared.mutex);
  return parts_->shared.engine.change_period(period, now);
}

void Collector::request_client_log() { parts_->server.request_client_log(); }

}  // namespace pcp::trace::agent
