// SPDX-License-Identifier: LGPL-2.1-or-later
// The records of a PCP archive, as bytes: versions 2 and 3 of the format, which logarchive(5)
// draws. Each function gives a record's payload; archive_writer.hpp frames it and knows which of
// the three files it belongs to. We write them ourselves because no library that Debian has can:
// design.md tells why.
#pragma once

#include <pcp/pmapi.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "command/archive/sample.hpp"

namespace pcp::trace::command {

enum class ArchiveVersion { V2 = 2, V3 = 3 };

// A time of the wall clock. Version 2 has room for microseconds.
struct Stamp {
  std::int64_t seconds = 0;
  std::int32_t nanoseconds = 0;
  auto operator<=>(const Stamp&) const = default;
};

// What all files of an archive say at their beginning.
struct ArchiveLabel {
  ArchiveVersion version{};
  std::uint32_t pid = 0;
  Stamp start;
  std::string host;       // version 2 keeps 63 bytes, version 3 255
  std::string time_zone;  // 39 and 255
};

class ArchiveRecords {
 public:
  explicit ArchiveRecords(ArchiveVersion version) : version_(version) {}

  // `file` is a volume's number, or one of these.
  static constexpr std::int32_t kIndex = -2;
  static constexpr std::int32_t kMetadata = -1;
  std::string label(const ArchiveLabel& label, std::int32_t file) const;

  static std::string metric(const pmDesc& metric, std::string_view name);

  // `type` and `of` as pmLookupText() has them.
  static std::string text(unsigned type, unsigned of, std::string_view text);

  // All of a domain; or, in version 3 only, what has come since. Requires: not empty.
  std::string instances(Stamp at, pmInDom domain, const Instances& all) const;
  std::string more_instances(Stamp at, pmInDom domain, const Instances& added) const;

  std::string labels(Stamp at, unsigned type, unsigned of, std::span<const pmLabelSet> sets) const;

  // One of no metric at all tells that nothing is known of the time before.
  std::string values(Stamp at, const Sample& sample) const;

  // Where a volume and the metadata are at this time.
  struct Place {
    std::int32_t volume = 0;
    std::uint64_t metadata_at = 0;
    std::uint64_t volume_at = 0;
  };
  std::string index_entry(Stamp at, const Place& place) const;

 private:
  bool is_v3() const { return version_ == ArchiveVersion::V3; }

  ArchiveVersion version_;
};

}  // namespace pcp::trace::command
