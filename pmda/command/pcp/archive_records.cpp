// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/archive_records.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pcp::trace::command {

namespace {

// Appends big-endian numbers and texts.
class Bytes {
 public:
  void u8(std::uint32_t number) { text_ += static_cast<char>(number & 0xff); }
  void u16(std::uint32_t number) {
    u8(number >> 8);
    u8(number);
  }
  void u32(std::uint32_t number) {
    u16(number >> 16);
    u16(number);
  }
  void u32(std::int32_t number) { u32(static_cast<std::uint32_t>(number)); }
  template <typename... Numbers>
  void words(Numbers... numbers) {
    (u32(static_cast<std::uint32_t>(numbers)), ...);
  }
  void u64(std::uint64_t number) {
    u32(static_cast<std::uint32_t>(number >> 32));
    u32(static_cast<std::uint32_t>(number));
  }
  void size(std::size_t size) { u32(static_cast<std::uint32_t>(size)); }
  void text(std::string_view text) { text_ += text; }
  void with_nul(std::string_view text) {
    text_ += text;
    u8(0);
  }
  // Cut so that a NUL follows; filled with NULs.
  void field(std::string_view text, std::size_t bytes) {
    std::string cut(text.substr(0, bytes - 1));
    cut.resize(bytes);
    text_ += cut;
  }
  void pad() { text_.append((4 - text_.size() % 4) % 4, '\0'); }

  std::size_t size() const { return text_.size(); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Types of metadata records.
enum RecordType : std::uint32_t {
  kMetric = 1,
  kInstancesV2 = 2,
  kLabelsV2 = 3,
  kText = 4,
  kInstances = 5,
  kMoreInstances = 6,
  kLabels = 7
};

// Version 3 has 64-bit seconds, the lower half first. PCP's library has the higher half first on a
// big-endian processor, and reads nothing else there.
void add_time(Bytes& out, Stamp at, bool is_v3) {
  const auto seconds = static_cast<std::uint64_t>(at.seconds);
  if (is_v3) {
    out.u64(std::endian::native == std::endian::big ? seconds : std::rotl(seconds, 32));
    out.u32(at.nanoseconds);
  } else {
    out.u32(static_cast<std::uint32_t>(seconds));
    out.u32(at.nanoseconds / 1000);
  }
}

std::uint32_t packed(const pmUnits& units) {
  const auto nibble = [](int value, int shift) {
    return (static_cast<std::uint32_t>(value) & 15) << shift;
  };
  return nibble(units.dimSpace, 28) | nibble(units.dimTime, 24) | nibble(units.dimCount, 20) |
         nibble(static_cast<int>(units.scaleSpace), 16) |
         nibble(static_cast<int>(units.scaleTime), 12) | nibble(units.scaleCount, 8);
}

std::string instance_record(std::uint32_t type, Stamp at, bool is_v3, pmInDom domain,
                            const Instances& instances) {
  Bytes out;
  out.u32(type);
  add_time(out, at, is_v3);
  out.words(domain, instances.size());
  for (const auto& [number, name] : instances) out.u32(number);
  std::size_t offset = 0;
  for (const auto& [number, name] : instances) {
    out.size(offset);
    offset += name.size() + 1;
  }
  for (const auto& [number, name] : instances) out.with_nul(name);
  return out.take();
}

// A value that is no 32-bit number. Its type decides whether it is a 64-bit number.
void add_block(Bytes& out, const pmValueBlock& block) {
  if (block.vtype == PM_TYPE_EVENT) return out.text(archived_events(block));
  const std::size_t bytes = block.vlen - PM_VAL_HDR_SIZE;
  out.u32(std::uint32_t{block.vtype} << 24 | block.vlen);
  if (block.vtype == PM_TYPE_64 || block.vtype == PM_TYPE_U64 || block.vtype == PM_TYPE_DOUBLE) {
    std::uint64_t number = 0;
    std::memcpy(&number, block.vbuf, sizeof number);
    out.u64(number);
  } else if (block.vtype == PM_TYPE_FLOAT) {
    std::uint32_t number = 0;
    std::memcpy(&number, block.vbuf, sizeof number);
    out.u32(number);
  } else {
    out.text({block.vbuf, bytes});
    out.pad();
  }
}

std::size_t bytes_before_blocks(const Sample& sample) {
  std::size_t bytes = 0;
  for (const MetricValues& each : sample)
    bytes += 8 + (each.values.empty() ? 0 : 4 + 8 * each.values.size());
  return bytes;
}

}  // namespace

std::string ArchiveRecords::label(const ArchiveLabel& label, std::int32_t file) const {
  constexpr std::uint32_t kMagic = 0x50052600;
  Bytes out;
  out.u32(kMagic | static_cast<std::uint32_t>(version_));
  out.u32(label.pid);
  add_time(out, label.start, is_v3());
  out.u32(file);
  if (is_v3()) {
    out.u64(0);  // no features, and reserved bytes
    for (const std::string& text : {label.host, label.time_zone, std::string()})
      out.field(text, 256);
  } else {
    out.field(label.host, 64);
    out.field(label.time_zone, 40);
  }
  return out.take();
}

std::string ArchiveRecords::metric(const pmDesc& metric, std::string_view name) {
  Bytes out;
  constexpr int kNames = 1;
  out.words(kMetric, metric.pmid, metric.type, metric.indom, metric.sem, packed(metric.units),
            kNames, name.size());
  out.text(name);
  return out.take();
}

std::string ArchiveRecords::text(unsigned type, unsigned of, std::string_view text) {
  Bytes out;
  out.words(kText, type, of);
  out.with_nul(text);
  return out.take();
}

std::string ArchiveRecords::instances(Stamp at, pmInDom domain, const Instances& all) const {
  return instance_record(is_v3() ? kInstances : kInstancesV2, at, is_v3(), domain, all);
}

std::string ArchiveRecords::more_instances(Stamp at, pmInDom domain, const Instances& added) const {
  return instance_record(kMoreInstances, at, is_v3(), domain, added);
}

std::string ArchiveRecords::labels(Stamp at, unsigned type, unsigned of,
                                   std::span<const pmLabelSet> sets) const {
  Bytes out;
  out.u32(is_v3() ? kLabels : kLabelsV2);
  add_time(out, at, is_v3());
  out.words(type, of, sets.size());
  for (const pmLabelSet& set : sets) {
    out.words(set.inst, set.jsonlen);
    out.text({set.json, set.jsonlen});
    out.u32(set.nlabels);
    for (const pmLabel& label : std::span(set.labels, static_cast<std::size_t>(set.nlabels))) {
      out.u16(label.name);
      out.u8(label.namelen);
      out.u8(label.flags);
      out.u16(label.value);
      out.u16(label.valuelen);
    }
  }
  return out.take();
}

std::string ArchiveRecords::values(Stamp at, const Sample& sample) const {
  Bytes out;
  add_time(out, at, is_v3());
  out.size(sample.size());
  // A block's position counts words from eight bytes before the record's length, which itself is
  // one word.
  constexpr std::size_t kBefore = 12;
  const std::size_t first_block = out.size() + bytes_before_blocks(sample);
  Bytes blocks;
  for (const MetricValues& each : sample) {
    out.words(each.metric, each.values.size());
    if (each.values.empty()) continue;
    const bool in_situ = each.format == PM_VAL_INSITU;
    out.u32(in_situ ? PM_VAL_INSITU : PM_VAL_DPTR);
    for (const pmValue& value : each.values) {
      out.u32(value.inst);
      if (in_situ) {
        out.u32(value.value.lval);
      } else {
        out.size((kBefore + first_block + blocks.size()) / 4);
        add_block(blocks, *value.value.pval);
      }
    }
  }
  out.text(blocks.take());
  return out.take();
}

std::string ArchiveRecords::index_entry(Stamp at, const Position& position) const {
  Bytes out;
  add_time(out, at, is_v3());
  out.u32(position.volume);
  for (const std::uint64_t offset : {position.metadata_at, position.volume_at})
    is_v3() ? out.u64(offset) : out.u32(static_cast<std::uint32_t>(offset));
  return out.take();
}

}  // namespace pcp::trace::command
