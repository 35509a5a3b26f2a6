// SPDX-License-Identifier: LGPL-2.1-or-later
// The values that an agent has, for the tests of its side of the protocol.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "collector/ingest_counters.hpp"
#include "collector/reader.hpp"
#include "support/all_tags.hpp"

namespace pcp::trace::agent {

class ReaderFixture : public testing::Test {
 protected:
  ReaderFixture() { lines_.clear(); }

  virtual Reader reader() const = 0;

  // The values of a tag; nothing if it has no instance.
  std::optional<TagValues> values(TraceType type, const std::string& tag) const {
    for (const KnownTag& known : all_tags(reader(), type))
      if (known.name.tag == tag) return known.values;
    return {};
  }
  std::uint64_t count_of(TraceType type, const std::string& tag) const {
    const auto found = values(type, tag);
    return found ? found->total.count : 0;
  }
  std::optional<InstanceName> instance(TraceType type, const std::string& tag) const {
    for (const KnownTag& known : all_tags(reader(), type))
      if (known.name.tag == tag) return known.name;
    return {};
  }
  std::vector<ClientView> clients() const {
    std::vector<ClientView> views;
    reader().clients([&](std::uint64_t, ClientView&& view) { views.push_back(std::move(view)); });
    return views;
  }
  const IngestCounters& counters() const { return reader().ingest_counters(); }

  // All lines logged in this test; and one that contains this text, or an empty one.
  static void remember_line(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }
  static std::vector<std::string> log() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  static std::string log_line_with(const std::string& text) {
    for (const std::string& line : log())
      if (line.find(text) != line.npos) return line;
    return {};
  }

 private:
  static inline std::mutex mutex_;
  static inline std::vector<std::string> lines_;
};

}  // namespace pcp::trace::agent
