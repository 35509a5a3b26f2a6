// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes new instance numbers to their file, so that tags keep them over a restart of the agent.
// Also reserves the next numbers: an agent that is killed has given numbers that the file lacks,
// and the next agent must not give those to other tags.
#pragma once

#include <string>

#include "collector/engine/instance_file.hpp"
#include "collector/reader.hpp"

namespace pcp::trace::agent {

// Later than any time.
inline constexpr Instant kNever = Instant::max();

// Thread: the one that may wait for a disk.
class NumberKeeper {
 public:
  using Warn = void (*)(const std::string&);

  // Requires: the collector knows the numbers in the file, and has given no new ones yet.
  NumberKeeper(InstanceFile file, Reader reader, Warn warn, Instant (*clock)());

  // Saves if there are new numbers, but spends only a small part of the time on saving. A failed
  // save is repeated later. Returns the latest time for the next call.
  Instant save_new();

  // The last save: leaves no numbers reserved.
  void save_at_end();

 private:
  bool has_unsaved();
  bool is_reserve_low() const;
  Numbers reserve() const;
  void save(const Numbers& reserved);
  Result<void> write(const Numbers& reserved);

  InstanceFile file_;
  Reader reader_;
  Warn warn_;
  Instant (*clock_)();
  const Numbers first_;        // the highest ones at construction
  Numbers highest_;            // the highest ones given, when last read
  Numbers saved_;              // the highest ones in the file
  Numbers reserved_{};         // the reservation in the file
  std::uint64_t changes_ = 0;  // Reader::changes(), when last read
  bool unsaved_ = true;        // the file lacks something
  bool warned_ = false;        // since the last successful save
  Instant next_save_{};
};

}  // namespace pcp::trace::agent
