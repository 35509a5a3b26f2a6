// SPDX-License-Identifier: LGPL-2.1-or-later
// The records of a PCP archive as bytes, in versions 2 and 3 of the format (see logarchive(5)).
// Each function gives a record's payload; archive_writer.hpp frames it and chooses the file. No
// library in Debian can write these records: see design.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "command/pcp/sample.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

enum class ArchiveVersion { V2 = 2, V3 = 3 };

// A wall-clock time. Version 2 stores only microseconds.
struct Stamp {
  std::int64_t seconds = 0;
  std::int32_t nanoseconds = 0;
  auto operator<=>(const Stamp&) const = default;
};

// The label at the beginning of all files of an archive.
struct ArchiveLabel {
  ArchiveVersion version{};
  std::uint32_t pid = 0;
  Stamp start;
  std::string host;       // at most 63 bytes in version 2, 255 in version 3
  std::string time_zone;  // at most 39 and 255
};

// An array of event records in the form of archives: the whole array with the value's head, in
// big-endian numbers. A malformed array becomes one without records.
std::string archived_events(const pmValueBlock& block);

class ArchiveRecords {
 public:
  explicit ArchiveRecords(ArchiveVersion version) : version_(version) {}

  // `file` is a volume's number, or kIndex or kMetadata.
  static constexpr std::int32_t kIndex = -2;
  static constexpr std::int32_t kMetadata = -1;
  std::string label(const ArchiveLabel& label, std::int32_t file) const;

  static std::string metric(const pmDesc& metric, std::string_view name);

  // `type` and `of` as in pmLookupText().
  static std::string text(unsigned type, unsigned of, std::string_view text);

  // All instances of a domain; or, in version 3 only, the new ones. Requires: not empty.
  std::string instances(Stamp at, pmInDom domain, const Instances& all) const;
  std::string more_instances(Stamp at, pmInDom domain, const Instances& added) const;

  std::string labels(Stamp at, unsigned type, unsigned of, std::span<const pmLabelSet> sets) const;

  // A sample without metrics is a mark: nothing is known of the time before.
  std::string values(Stamp at, const Sample& sample) const;

  // Where readers of a time start.
  struct Position {
    std::int32_t volume = 0;
    std::uint64_t metadata_at = 0;
    std::uint64_t volume_at = 0;
  };
  std::string index_entry(Stamp at, const Position& position) const;

 private:
  bool is_v3() const { return version_ == ArchiveVersion::V3; }

  ArchiveVersion version_;
};

}  // namespace pcp::trace::command
