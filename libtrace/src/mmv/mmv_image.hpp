// SPDX-License-Identifier: LGPL-2.1-or-later
// The bytes of a file in the format of mmv(5), version 3. All numbers have this machine's byte
// order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mmv/mmv_totals.hpp"

namespace pcp::trace::client {

struct MmvHeader {
  std::array<char, 4> magic{'M', 'M', 'V', '\0'};
  std::int32_t version = 3;
  std::uint64_t generation1 = 0;
  std::uint64_t generation2 = 0;
  std::int32_t sections = 0;
  std::int32_t flags = 0;
  std::int32_t process = 0;
  std::int32_t cluster = 0;
};

// The process whose file it is.
struct MmvOwner {
  std::string metrics;  // the first word of their names after "mmv."
  std::string service;
  std::int32_t process = 0;
  std::string at_namespace;  // follows the process id in names; empty: in the machine's namespace

  std::int32_t cluster() const;
  // The instance's name; null: of the tags beyond MmvTotals::kMostInstances.
  std::string name_of(const Tag* tag) const;
};

class MmvImage {
 public:
  // Where an instance's values are.
  struct ValueBlock {
    std::uint64_t values = 0;   // the offset of the first one
    std::uint32_t present = 0;  // a bit for each metric of its type
  };

  MmvImage() = default;  // of no file
  MmvImage(const MmvOwner& owner, const std::vector<MmvInstance>& instances,
           const std::vector<std::int32_t>& numbers, std::uint64_t generation);

  const std::string& bytes() const { return bytes_; }
  bool is_empty() const { return bytes_.empty(); }

  // The number of instances.
  std::size_t size() const { return blocks_.size(); }

  // Sets the values of the i-th instance. False if it has other metrics than in the image.
  bool set_values(std::size_t i, const MmvInstance& instance);

  std::string_view values_of(std::size_t i) const;
  std::uint64_t offset_of(std::size_t i) const { return blocks_[i].values; }

 private:
  std::string bytes_;
  std::vector<ValueBlock> blocks_;  // of each instance
};

}  // namespace pcp::trace::client
