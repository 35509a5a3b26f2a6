// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/collector/ingest/collector_fixture.hpp"

#include <mutex>
#include <utility>

#include "support/all_tags.hpp"
#include "support/error_of.hpp"

namespace pcp::trace::agent {

namespace {

std::mutex log_mutex;
std::vector<std::string> log_lines;

void remember_line(const std::string& line) {
  const std::lock_guard lock(log_mutex);
  log_lines.push_back(line);
}

}  // namespace

CollectorFixture::CollectorFixture() {
  const std::lock_guard lock(log_mutex);
  log_lines.clear();
}

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

std::optional<InstanceName> CollectorFixture::instance(TraceType type, const std::string& tag) {
  for (const KnownTag& known : all_tags(collector_->reader(), type))
    if (known.name.tag == tag) return known.name;
  return {};
}

std::optional<TagValues> CollectorFixture::values(TraceType type, const std::string& tag) {
  for (const KnownTag& known : all_tags(collector_->reader(), type))
    if (known.name.tag == tag) return known.values;
  return {};
}

std::uint64_t CollectorFixture::count_of(TraceType type, const std::string& tag) {
  const auto found = values(type, tag);
  return found ? found->total.count : 0;
}

std::vector<ClientView> CollectorFixture::clients() {
  std::vector<ClientView> views;
  collector_->reader().clients(
      [&](std::uint64_t, ClientView&& view) { views.push_back(std::move(view)); });
  return views;
}

std::vector<std::string> CollectorFixture::log() {
  const std::lock_guard lock(log_mutex);
  return log_lines;
}

std::string CollectorFixture::log_line_with(const std::string& text) {
  for (const std::string& line : log())
    if (line.find(text) != line.npos) return line;
  return {};
}

}  // namespace pcp::trace::agent
