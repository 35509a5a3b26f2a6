// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/archive_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/descriptor.hpp"

namespace pcp::trace::command {

namespace {

// To find a time, a reader must scan up to this much of a volume.
constexpr std::uint64_t kBytesBetweenEntries = 100'000;

// Version 2 has 31-bit positions.
constexpr std::uint64_t kMostBytesV2 = std::numeric_limits<std::int32_t>::max();

// Each record has its length before and after it. The length includes both.
std::string framed(const std::string& record) {
  const auto length = static_cast<std::uint32_t>(record.size() + 8);
  std::string edge;
  for (const int shift : {24, 16, 8, 0}) edge += static_cast<char>(length >> shift & 0xff);
  return edge + record + edge;
}

}  // namespace

Result<ArchiveWriter> ArchiveWriter::create(const std::string& path, const ArchiveLabel& label,
                                            std::uint64_t max_volume_bytes) {
  ArchiveWriter writer(path, label, max_volume_bytes);
  writer.open(writer.volume_, ".0", 0);
  writer.open(writer.metadata_, ".meta", ArchiveRecords::kMetadata);
  writer.open(writer.index_, ".index", ArchiveRecords::kIndex);
  if (writer.failure_) return *writer.failure_;
  return writer;
}

void ArchiveWriter::open(File& file, const std::string& suffix, std::int32_t number) {
  if (failure_) return;
  file = {};
  file.path = path_ + suffix;
  file.descriptor.reset(::open(file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.descriptor) return fail(file, errno);
  append_framed(file, records_.label(label_, number));
}

void ArchiveWriter::add_metric(const pmDesc& metric, std::string_view name) {
  append_framed(metadata_, ArchiveRecords::metric(metric, name));
}

void ArchiveWriter::add_text(unsigned type, unsigned of, std::string_view text) {
  append_framed(metadata_, ArchiveRecords::text(type, of, text));
}

void ArchiveWriter::add_labels(Stamp at, unsigned type, unsigned of,
                               std::span<const pmLabelSet> sets) {
  if (sets.empty()) return;
  add_metadata(at, records_.labels(at, type, of, sets));
  // PCP 6.0.3 drops sets that equal those of the record before, but only looks at the newest
  // record. After an empty record no set equals an earlier one.
  if (type == PM_LABEL_INSTANCES) add_metadata(at, records_.labels(at, type, of, {}));
}

void ArchiveWriter::add_instances(Stamp at, pmInDom domain, const Instances& added) {
  if (added.empty()) return;
  Instances& all = instances_[domain];
  const std::size_t before = all.size();
  for (const auto& [number, name] : added) all[number] = name;
  const bool are_all_new = all.size() == before + added.size();
  add_metadata(at, before > 0 && are_all_new && adds_instances_cheaply()
                       ? records_.more_instances(at, domain, added)
                       : records_.instances(at, domain, all));
}

const Instances& ArchiveWriter::instances(pmInDom domain) const {
  static const Instances none;
  const auto found = instances_.find(domain);
  return found == instances_.end() ? none : found->second;
}

void ArchiveWriter::add_sample(Stamp at, const Sample& sample) {
  const std::string record = framed(records_.values(at, sample));
  if (volume_.bytes + record.size() > max_volume_bytes_ && indexed_at_ > 0) begin_volume(at);
  if (!indexed_ || volume_.bytes - indexed_at_ > kBytesBetweenEntries) add_index_entry(at);
  const std::uint64_t before = volume_.bytes;
  append(volume_, record);
  last_ = at;
  if (failure_) return;
  last_sample_at_ = before;
  last_sample_bytes_ = record.size();
}

void ArchiveWriter::add_end(pmID metric, const std::string& text) {
  add_sample(last_, TextSample(metric, text).sample());
  if (failure_) put_over_last_sample(metric, failure_->message);
}

// As long as the old sample: a full disk has no space for more, and the index may point behind the
// sample.
void ArchiveWriter::put_over_last_sample(pmID metric, std::string text) {
  const auto record_of = [&] {
    return framed(records_.values(last_, TextSample(metric, text).sample()));
  };
  text.resize(text.size() + last_sample_bytes_);
  const std::size_t too_many = record_of().size() - last_sample_bytes_;
  if (last_sample_bytes_ == 0 || too_many > text.size()) return;
  text.resize(text.size() - too_many);
  if (const std::string record = record_of(); record.size() == last_sample_bytes_)
    static_cast<void>(::pwrite(volume_.descriptor.get(), record.data(), record.size(),
                               static_cast<off_t>(last_sample_at_)));
}

Result<void> ArchiveWriter::finish() {
  add_index_entry(last_);
  for (File* const file : {&volume_, &metadata_, &index_})
    if (file->descriptor && !file->descriptor.close() && !failure_) fail(*file, errno);
  if (failure_) return *failure_;
  return {};
}

// Readers that start at an index entry must find this metadata.
void ArchiveWriter::add_metadata(Stamp at, const std::string& record) {
  add_index_entry(at);
  append_framed(metadata_, record);
  last_ = at;
}

void ArchiveWriter::add_index_entry(Stamp at) {
  if (indexed_ == at) return;
  append(index_, records_.index_entry(at, {volume_number_, metadata_.bytes, volume_.bytes}));
  indexed_ = at;
  indexed_at_ = volume_.bytes;
}

void ArchiveWriter::begin_volume(Stamp at) {
  add_index_entry(last_);
  ++volume_number_;
  last_sample_bytes_ = 0;
  open(volume_, "." + std::to_string(volume_number_), volume_number_);
  indexed_.reset();
  add_index_entry(at);
}

void ArchiveWriter::append_framed(File& file, const std::string& record) {
  append(file, framed(record));
}

void ArchiveWriter::append(File& file, std::string_view bytes) {
  if (failure_) return;
  if (label_.version == ArchiveVersion::V2 && file.bytes + bytes.size() > kMostBytesV2)
    return fail(file, EFBIG);
  const int error = write_all(file.descriptor.get(), bytes);
  if (error == 0) {
    file.bytes += bytes.size();
    return;
  }
  fail(file, error);
  // Half a record would make the whole file unreadable.
  if (::ftruncate(file.descriptor.get(), static_cast<off_t>(file.bytes)) != 0)
    failure_->message += "; the incomplete record cannot be removed";
}

void ArchiveWriter::fail(const File& file, int error) {
  if (!failure_) failure_ = Error{file.path + ": " + std::strerror(error)};
}

}  // namespace pcp::trace::command
