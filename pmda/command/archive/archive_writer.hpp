// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes a PCP archive: the files NAME.0 (and .1, .2 ... where one gets too large), NAME.meta and
// NAME.index. A record is written as a whole or not at all: what is there can be read whenever the
// writer dies, or the disk is full. After the first failure it writes nothing more.
//
// Thread: one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "collector/engine/descriptor.hpp"
#include "command/archive/archive_records.hpp"
#include "wire/result.hpp"

namespace pcp::trace::command {

class ArchiveWriter {
 public:
  // Of one volume. Readers of version 2 can go no further than 2 GiB.
  static constexpr std::uint64_t kMaxVolumeBytes = std::uint64_t{1} << 30;

  // Makes the files, none of which may be there yet. `path` is without what tells them apart.
  static Result<ArchiveWriter> create(const std::string& path, const ArchiveLabel& label,
                                      std::uint64_t max_volume_bytes = kMaxVolumeBytes);

  // What describes the values. Each comes before the first sample that needs it.
  void add_metric(const pmDesc& metric, std::string_view name);
  void add_text(unsigned type, unsigned of, std::string_view text);

  // Of a domain or an instance they are those from now on, until the next ones.
  void add_labels(Stamp at, unsigned type, unsigned of, std::span<const pmLabelSet> sets);

  // These have come to the domain, or have a new name from now on. None ever leaves it.
  void add_instances(Stamp at, pmInDom domain, const Instances& added);

  // All that have come.
  const Instances& instances(pmInDom domain) const;

  // Whether that takes no more bytes the more there are already.
  bool adds_instances_cheaply() const { return label_.version == ArchiveVersion::V3; }

  // Stamps of samples, and of what belongs to them, must not go backwards.
  void add_sample(Stamp at, const Sample& sample);

  // Says at the end what became of it all, as the one value of a metric, at the time of what was
  // added last. If writing has failed the failure is said instead of `text`, in the place of the
  // last sample: there need be no other.
  void add_end(pmID metric, const std::string& text);

  // Nothing may be added after it. Gives what went wrong first, if anything did.
  Result<void> finish();

  // Why nothing is written any more.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  struct File {
    agent::Descriptor descriptor;
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
  void mark(Stamp at);
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
  std::uint64_t last_sample_at_ = 0;     // of the volume
  std::uint64_t last_sample_bytes_ = 0;  // 0: there is none in it
  Stamp last_;                           // of what was added
  std::optional<Stamp> marked_;          // in the index
  std::uint64_t marked_at_ = 0;          // of the volume
  std::unordered_map<pmInDom, Instances> instances_;
  std::optional<Error> failure_;
};

}  // namespace pcp::trace::command
