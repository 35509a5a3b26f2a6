// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the instance numbers to their file when there are new ones, so that tags keep them over a
// restart of the agent. And reserves those that come next: an agent that is killed has given some
// that are not in the file yet, and the next one must not give them again to others.
#pragma once

#include <string>

#include "collector/engine/instance_file.hpp"
#include "collector/reader.hpp"

namespace pcp::trace::agent {

// Later than any time.
inline constexpr Time kNever = Time::max();

// Thread: the one that may wait for a disk.
class NumberKeeper {
 public:
  using Warn = void (*)(const std::string&);

  // Requires: the collector knows the numbers in the file, and no new ones yet.
  NumberKeeper(InstanceFile file, Reader reader, Warn warn, Time (*clock)());

  // Saves if there are new numbers, but spends only a small part of the time on that. What could
  // not be saved is tried again later. Gives the time when to call this again, if not before.
  Time save_new();

  // The last time: leaves nothing reserved.
  void save_at_end();

 private:
  bool has_unsaved();
  bool reserve_runs_out() const;
  Numbers reserve() const;
  void save(const Numbers& reserved);
  Result<void> write(const Numbers& reserved);

  InstanceFile file_;
  Reader reader_;
  Warn warn_;
  Time (*clock_)();
  const Numbers first_;        // the highest ones when this began
  Numbers highest_;            // given, as far as has been looked at
  Numbers saved_;              // of those in the file, the highest
  Numbers reserved_{};         // in the file
  std::uint64_t changes_ = 0;  // that have been looked at
  bool unsaved_ = true;        // there is something that the file has not
  bool warned_ = false;        // since the last save that succeeded
  Time next_save_{};
};

}  // namespace pcp::trace::agent
