// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the origins of tags from labels of processes. Tags keep origins after their processes end,
// so the memory is limited per user and in total.
//
// Thread: the ingest thread; but any may drop an origin.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "collector/ingest/ingest_options.hpp"
#include "collector/ingest_counters.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class OriginStore {
 public:
  // `refused` counts labels that are left out.
  OriginStore(const IngestOptions& options, IngestCounter& refused)
      : options_(options), refused_(refused) {}

  // Leaves out labels that PCP would refuse, that are reserved, or that are too many; and all
  // labels if the user has no room left.
  std::shared_ptr<const Origin> make(const wire::Hello& hello, const std::string& owner,
                                     std::uint32_t pid);

  // Makes labels of a tag's unit and description, each if not empty. Null without room.
  std::shared_ptr<const LabelText> describe(std::string_view unit, std::string_view description,
                                            const std::string& owner);

 private:
  // Added to by make(), subtracted from when an origin is dropped, on any thread. Independent
  // values.
  using Bytes = std::atomic<std::size_t>;

  // Counts the object for its owner. Null without room.
  template <typename Kept>
  std::shared_ptr<const Kept> keep(Kept kept, std::size_t bytes, const std::string& owner);

  const IngestOptions& options_;
  IngestCounter& refused_;
  std::shared_ptr<Bytes> all_ = std::make_shared<Bytes>(0);
  std::map<std::string, std::shared_ptr<Bytes>> of_users_;
  static constexpr std::size_t kFewUsers = 100;
  std::size_t most_users_ = kFewUsers;  // at this count, users without bytes are removed
};

}  // namespace pcp::trace::agent
