// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes a PCP archive: the files NAME.0 (and .1, .2 ... for more volumes), NAME.meta and
// NAME.index. Each record is written completely or not at all, so the archive stays readable if the
// writer dies or the disk is full. After the first failure nothing more is written.
//
// libpcp_import has no aggregates and events, writes a whole instance domain at each change, and
// leaves a damaged archive when the disk is full. Debian's libpcp-archive1 has no encoder of
// records, and needs libpcp's private headers.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "command/pcp/archive_records.hpp"

namespace pcp::trace::command {

class ArchiveWriter {
 public:
  // Limit of a volume. Readers of version 2 only handle 2 GiB.
  static constexpr std::uint64_t kMaxVolumeBytes = std::uint64_t{1} << 30;

  // Makes the files, which must not exist. `path` has no suffix.
  static Result<ArchiveWriter> create(const std::string& path, const ArchiveLabel& label,
                                      std::uint64_t max_volume_bytes = kMaxVolumeBytes);

  // The metadata. Each must come before the first sample that needs it.
  void add_metric(const pmDesc& metric, std::string_view name);
  void add_text(unsigned type, unsigned of, std::string_view text);

  // Labels of a domain or of instances apply from `at` until the next ones.
  void add_labels(Stamp at, unsigned type, unsigned of, std::span<const pmLabelSet> sets);

  // Adds new or renamed instances from `at` on. Instances are never removed.
  void add_instances(Stamp at, pmInDom domain, const Instances& added);

  // All instances added.
  const Instances& instances(pmInDom domain) const;

  // True if the size of added instances does not depend on the instances already there.
  bool adds_instances_cheaply() const { return label_.version == ArchiveVersion::V3; }

  // The latest stamp of all records.
  Stamp last() const { return last_; }

  // Stamps of samples, and of their metadata, must not decrease.
  void add_sample(Stamp at, const Sample& sample);

  // Writes the recording's result as a last sample of one metric, at the last stamp. If writing has
  // failed, the failure replaces `text`, and the record replaces the last sample: a full disk may
  // have no room for another one.
  void add_end(pmID metric, const std::string& text);

  // Nothing may be added afterwards. Returns the first failure, if any.
  Result<void> finish();

  // The first failure, which ended writing.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  struct File {
    Descriptor descriptor;
    std::string path;
    std::uint64_t bytes = 0;
  };

  ArchiveWriter(std::string path, ArchiveLabel label, std::uint64_t max_volume_bytes)
      : path_(std::move(path)),
        label_(std::move(label)),
        records_(label_.version),
        max_volume_bytes_(max_volume_bytes),
        last_(label_.start) {}

  void open(File& file, const std::string& suffix, std::int32_t number);
  void add_metadata(Stamp at, const std::string& record);
  void add_index_entry(Stamp at);
  void begin_volume(Stamp at);
  void append_framed(File& file, const std::string& record);
  void append(File& file, std::string_view bytes);
  void put_over_last_sample(pmID metric, std::string text);
  void fail(const File& file, int error);

  std::string path_;
  ArchiveLabel label_;
  ArchiveRecords records_;
  std::uint64_t max_volume_bytes_;

  File volume_;
  File metadata_;
  File index_;
  std::int32_t volume_number_ = 0;
  std::uint64_t last_sample_at_ = 0;     // position in the volume
  std::uint64_t last_sample_bytes_ = 0;  // 0: the volume has no sample
  Stamp last_;                           // the last stamp added
  std::optional<Stamp> indexed_;         // the last stamp in the index
  std::uint64_t indexed_at_ = 0;         // position in the volume
  std::unordered_map<pmInDom, Instances> instances_;
  std::optional<Error> failure_;
};

}  // namespace pcp::trace::command
