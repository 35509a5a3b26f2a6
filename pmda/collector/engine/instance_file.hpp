// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps the instance numbers from one life of the agent to the next: a text file, replaced as a
// whole.
//
//   pcp-trace-instances 1
//   reserved <four numbers, one of each type: numbers up to these may have been given>
//   <type, 1 to 4> <number> <absent> <tag, with what is not printable ASCII, blanks and \ as \xNN>
//   ...
//   end
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

class InstanceFile {
 public:
  explicit InstanceFile(std::string path) : path_(std::move(path)) {}

  // A greater number is damage: accepting it would leave no numbers for new tags.
  static constexpr std::int32_t kMaxNumber = 1'000'000'000;

  struct Contents {
    std::vector<KnownInstance> instances;  // no tag and no number of a type twice
    Numbers reserved{};                    // may have been given, to any tag
    std::string warning;                   // one line; empty if all could be read
  };

  // Reads all usable lines, whatever the file contains.
  Contents load() const;

  // Replaces the file. On failure the old file remains.
  Result<void> save(const std::vector<KnownInstance>& instances, const Numbers& reserved) const;

 private:
  std::string path_;
};

}  // namespace pcp::trace::agent
