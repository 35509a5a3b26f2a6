// SPDX-License-Identifier: LGPL-2.1-or-later
// The values that an agent has, for the tests of its side of the protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collector/ingest_counters.hpp"
#include "collector/reader.hpp"

namespace pcp::trace::agent {

class ReaderFixture : public testing::Test {
 protected:
  ReaderFixture();

  virtual Reader reader() const = 0;

  // The values of a tag; nothing if it has no instance.
  std::optional<TagValues> values(TraceType type, const std::string& tag) const;
  std::uint64_t count_of(TraceType type, const std::string& tag) const;
  std::optional<InstanceName> instance(TraceType type, const std::string& tag) const;
  std::vector<ClientView> clients() const;
  const IngestCounters& counters() const { return reader().ingest_counters(); }

  // All lines logged in this test; and one that contains this text, or an empty one.
  static void remember_line(const std::string& line);
  static std::vector<std::string> log();
  static std::string log_line_with(const std::string& text);
};

}  // namespace pcp::trace::agent
