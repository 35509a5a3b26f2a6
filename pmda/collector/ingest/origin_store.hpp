// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the origins of tags out of what processes say of themselves. Tags keep them when the
// processes have gone, so those of one user, and of all, may take so much memory and no more.
//
// Thread: the ingest thread's; but any may drop an origin.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "collector/ingest/options.hpp"
#include "collector/types.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class OriginStore {
 public:
  // `refused` counts the labels that are left out.
  OriginStore(const IngestOptions& options, IngestCounters::Counter& refused)
      : options_(options), refused_(refused) {}

  // Leaves out labels that PCP would refuse, that are not a process's to give, or that are too
  // many; and all of them if there is no room left for the user's.
  std::shared_ptr<const Origin> make(const wire::Hello& hello, const std::string& owner,
                                     std::uint32_t pid);

  // Makes the labels of a tag's description, each if it is not empty. Null if there is no room.
  std::shared_ptr<const LabelText> describe(std::string_view unit, std::string_view description,
                                            const std::string& owner);

 private:
  // Added to by make(), taken from by whoever drops an origin. Each stands for itself.
  using Bytes = std::atomic<std::size_t>;

  // Keeps it as one of the owner's. Null if there is no room.
  template <typename Kept>
  std::shared_ptr<const Kept> keep(Kept kept, std::size_t bytes, const std::string& owner);

  const IngestOptions& options_;
  IngestCounters::Counter& refused_;
  std::shared_ptr<Bytes> all_ = std::make_shared<Bytes>(0);
  std::map<std::string, std::shared_ptr<Bytes>> of_users_;
  static constexpr std::size_t kFewUsers = 100;
  std::size_t most_users_ = kFewUsers;  // when there are so many, those without bytes go
};

}  // namespace pcp::trace::agent
