// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/collector/ingest/collector_fixture.hpp"

#include <utility>

#include "support/error_of.hpp"

namespace pcp::trace::agent {

IngestOptions CollectorFixture::options() const {
  IngestOptions options;
  options.port = 0;
  options.socket_path = socket_path();
  return options;
}

void CollectorFixture::start(IngestOptions options, const EngineOptions& engine) {
  collector_ = std::make_unique<Collector>(
      Collector::Options{.engine = engine, .ingest = std::move(options)}, remember_line,
      steady_now());
  ASSERT_EQ(error_of(collector_->listen()), "");
  collector_->start();
}

TestPeer CollectorFixture::greeted(TestPeer peer) {
  EXPECT_EQ(peer.next_ack(), static_cast<std::int32_t>(wire::kBatchVersion));
  return peer;
}

TestPeer CollectorFixture::client(std::uint8_t session, TestPeer peer) {
  EXPECT_TRUE(peer.hello(session));
  return peer;
}

}  // namespace pcp::trace::agent
