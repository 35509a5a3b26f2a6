// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/collector/ingest/server_test.hpp"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include "support/error_of.hpp"

namespace pcp::trace::agent {

namespace {

std::mutex log_mutex;
std::vector<std::string> log_lines;

void remember_line(const std::string& line) {
  const std::lock_guard lock(log_mutex);
  log_lines.push_back(line);
}

std::string make_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "ingest_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  return name;
}

}  // namespace

ServerTest::ServerTest() : directory_(make_directory()), shared_({}, {}, steady_now()) {
  const std::lock_guard lock(log_mutex);
  log_lines.clear();
}

ServerTest::~ServerTest() {
  server_.reset();
  std::filesystem::remove_all(directory_);
}

IngestOptions ServerTest::options() const {
  IngestOptions options;
  options.port = 0;
  options.socket_path = socket_path();
  return options;
}

void ServerTest::start(IngestOptions options) {
  server_ = std::make_unique<Server>(std::move(options), shared_, remember_line);
  ASSERT_EQ(error_of(server_->listen()), "");
  server_->start();
}

std::optional<InstanceName> ServerTest::instance(TraceType type, const std::string& tag) {
  const std::lock_guard lock(shared_.mutex);
  std::vector<InstanceName> names;
  shared_.engine.instances(type, 0, 200'000, names);
  for (const InstanceName& name : names)
    if (name.tag == tag) return name;
  return {};
}

std::optional<TagValues> ServerTest::values(TraceType type, const std::string& tag) {
  const auto name = instance(type, tag);
  if (!name) return {};
  const std::lock_guard lock(shared_.mutex);
  std::vector<TagValues> all;
  while (shared_.engine.snapshot(type, all.size(), 200'000, steady_now(), all) > 0) continue;
  for (const TagValues& each : all)
    if (each.instance == name->instance) return each;
  return {};
}

std::uint64_t ServerTest::count_of(TraceType type, const std::string& tag) {
  const auto found = values(type, tag);
  return found ? found->total.count : 0;
}

std::vector<ClientView> ServerTest::clients() {
  const std::lock_guard lock(shared_.mutex);
  std::vector<ClientView> views;
  for (const auto& [number, view] : shared_.clients) views.push_back(view);
  return views;
}

std::vector<std::string> ServerTest::log() {
  const std::lock_guard lock(log_mutex);
  return log_lines;
}

std::string ServerTest::log_line_with(const std::string& text) {
  for (const std::string& line : log())
    if (line.find(text) != line.npos) return line;
  return {};
}

}  // namespace pcp::trace::agent
