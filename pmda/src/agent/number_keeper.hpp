// Writes the instance numbers to their file when there are new ones, so that tags keep them over a
// restart of the agent.
#pragma once

#include <string>

#include "engine/instance_file.hpp"
#include "engine/shared.hpp"

namespace pcp::trace::agent {

// Thread: the main one.
class NumberKeeper {
 public:
  using Warn = void (*)(const std::string&);

  // Requires: `shared` knows the numbers in the file, and no new ones yet.
  NumberKeeper(InstanceFile file, Shared& shared, Warn warn);

  // Saves if there are new numbers, but spends only a small part of the time on that.
  void save_new();

  void save();

 private:
  std::vector<KnownInstance> copy_numbers() const;

  InstanceFile file_;
  Shared& shared_;
  Warn warn_;
  std::size_t saved_;          // how many numbers the file has
  std::uint64_t changes_ = 0;  // of the engine, that have been looked at
  bool warned_ = false;
  Time next_save_{};
};

}  // namespace pcp::trace::agent
