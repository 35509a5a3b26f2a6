// SPDX-License-Identifier: LGPL-2.1-or-later
// A collector in this process, with real sockets and a directory of its own.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "collector/collector.hpp"
#include "support/error_of.hpp"
#include "support/scratch_directory.hpp"
#include "unit/collector/ingest/deadline.hpp"
#include "unit/collector/ingest/reader_fixture.hpp"
#include "unit/collector/ingest/test_peer.hpp"

namespace pcp::trace::agent {

class CollectorFixture : public ReaderFixture {
 protected:
  // Options with a free port and a Unix socket in the test's directory.
  IngestOptions options() const {
    IngestOptions options;
    options.port = 0;
    options.socket_path = socket_path();
    return options;
  }
  void start() { start(options()); }
  void start(IngestOptions options, const EngineOptions& engine = {}) {
    collector_ = std::make_unique<Collector>(
        Collector::Options{.engine = engine, .ingest = std::move(options)}, remember_line,
        steady_now());
    ASSERT_EQ(error_of(collector_->listen()), "");
    collector_->start();
  }
  // Starts with options that differ as `change` makes them.
  template <typename Change>
  void start_with(Change change) {
    IngestOptions changed = options();
    change(changed);
    start(std::move(changed));
  }

  // Started with the usual options, unless the test has started it.
  Collector& collector() {
    if (!collector_) start();
    return *collector_;
  }

  TestPeer tcp(const char* address = "127.0.0.1") {
    return TestPeer::tcp(collector().port(), address);
  }
  TestPeer unix_socket() {
    collector();
    return TestPeer::unix_socket(socket_path());
  }
  // A peer that has read the agent's greeting; and one that has said HELLO, too.
  static TestPeer greeted(TestPeer peer) {
    EXPECT_EQ(peer.next_ack(), static_cast<std::int32_t>(wire::kBatchVersion));
    return peer;
  }
  TestPeer client(std::uint8_t session = 1) {
    TestPeer peer = unix_socket();
    EXPECT_TRUE(peer.hello(session));
    return peer;
  }
  std::string socket_path() const { return directory_ + "/trace.socket"; }

  Reader reader() const override { return collector_->reader(); }

  const ScratchDirectory scratch_;
  const std::string directory_ = scratch_.path();
  std::unique_ptr<Collector> collector_;
};

}  // namespace pcp::trace::agent
