// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/collector/ingest/reader_fixture.hpp"

#include <mutex>
#include <utility>

#include "support/all_tags.hpp"

namespace pcp::trace::agent {

namespace {

std::mutex log_mutex;
std::vector<std::string> log_lines;

}  // namespace

ReaderFixture::ReaderFixture() {
  const std::lock_guard lock(log_mutex);
  log_lines.clear();
}

void ReaderFixture::remember_line(const std::string& line) {
  const std::lock_guard lock(log_mutex);
  log_lines.push_back(line);
}

std::optional<InstanceName> ReaderFixture::instance(TraceType type, const std::string& tag) const {
  for (const KnownTag& known : all_tags(reader(), type))
    if (known.name.tag == tag) return known.name;
  return {};
}

std::optional<TagValues> ReaderFixture::values(TraceType type, const std::string& tag) const {
  for (const KnownTag& known : all_tags(reader(), type))
    if (known.name.tag == tag) return known.values;
  return {};
}

std::uint64_t ReaderFixture::count_of(TraceType type, const std::string& tag) const {
  const auto found = values(type, tag);
  return found ? found->total.count : 0;
}

std::vector<ClientView> ReaderFixture::clients() const {
  std::vector<ClientView> views;
  reader().clients([&](std::uint64_t, ClientView&& view) { views.push_back(std::move(view)); });
  return views;
}

std::vector<std::string> ReaderFixture::log() {
  const std::lock_guard lock(log_mutex);
  return log_lines;
}

std::string ReaderFixture::log_line_with(const std::string& text) {
  for (const std::string& line : log())
    if (line.find(text) != line.npos) return line;
  return {};
}

}  // namespace pcp::trace::agent
