// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mmv/mmv_image.hpp"

#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "mmv/mmv_metrics.hpp"
#include "platform/texts.hpp"
#include "wire/dimensions.hpp"
#include "wire/first_word.hpp"

namespace pcp::trace::client {
namespace {

// The records of mmv(5), version 3.
struct SectionRecord {
  std::int32_t type;
  std::int32_t count;
  std::uint64_t offset;
};
struct DomainRecord {
  std::uint32_t serial;
  std::uint32_t count;
  std::uint64_t instances;
  std::uint64_t line;
  std::uint64_t text;
};
struct InstanceRecord {
  std::uint64_t domain;
  std::uint32_t padding;
  std::int32_t number;
  std::uint64_t name;
};
struct MetricRecord {
  std::uint64_t name;
  std::uint32_t item;
  std::int32_t type;
  std::int32_t semantics;
  std::uint32_t units;
  std::int32_t domain;
  std::uint32_t padding;
  std::uint64_t line;
  std::uint64_t text;
};
struct ValueRecord {
  std::uint64_t bits;
  std::int64_t extra;
  std::uint64_t metric;
  std::uint64_t instance;
};
struct LabelRecord {
  std::uint32_t flags;
  std::uint32_t identity;
  std::int32_t instance;
  std::array<char, 244> payload;
};
using TextRecord = std::array<char, 256>;
static_assert(sizeof(MmvHeader) == 40 && sizeof(SectionRecord) == 16 &&
              sizeof(DomainRecord) == 32 && sizeof(InstanceRecord) == 24 &&
              sizeof(MetricRecord) == 48 && sizeof(ValueRecord) == 32 &&
              sizeof(LabelRecord) == 256);

enum SectionType { kDomains = 1, kInstances, kMetrics, kValues, kTexts, kLabels };

constexpr std::int32_t kWholeNames = 1;
constexpr std::int32_t kVanishesWithProcess = 2;

constexpr std::uint32_t kLabelOfCluster = 1 << 3;
constexpr std::uint32_t kLabelOfInstance = 1 << 5;
constexpr std::int32_t kNoInstance = -1;
constexpr std::size_t kMostLabels = 255;  // of more, pmdammv shows none

// PCP's tools tell instances apart by their first words. An instance whose word is taken gets its
// number after the word, as in the agent.
std::string distinct(std::string_view name, std::int32_t number,
                     std::unordered_set<std::string>& words) {
  constexpr std::size_t kMost = sizeof(TextRecord) - 1;
  const std::string_view whole = first_word(name);
  std::string word(cut_text(whole, kMost));
  if (!words.insert(word).second) {
    const std::string suffix = suffix_of(number);
    word = std::string(cut_text(word, kMost - suffix.size())) + suffix;
    words.insert(word);
  }
  return word.append(name.substr(whole.size()));
}

// Empty if it is too long for a label.
std::string json_of(std::string_view name, std::string_view value) {
  std::string text = "{\"" + std::string(name) + "\":\"";
  for (const char c : without_controls(value)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  text += "\"}";
  return text.size() < sizeof(LabelRecord::payload) ? text : std::string();
}

// Puts the sections one after the other, and counts what is in each.
class Layout {
 public:
  struct Part {
    std::int32_t type;
    std::uint64_t offset;
    std::size_t count;
  };

  explicit Layout(std::size_t sections)
      : end_(sizeof(MmvHeader) + sections * sizeof(SectionRecord)) {}

  template <typename Record>
  Part next(std::int32_t type, std::size_t count) {
    const Part part{type, end_, count};
    end_ += count * sizeof(Record);
    return part;
  }
  std::size_t size() const { return end_; }

 private:
  std::uint64_t end_;
};

template <typename Record>
void put(char* bytes, std::uint64_t offset, const Record& record) {
  std::memcpy(bytes + offset, &record, sizeof record);
}

// Writes the texts one after another.
class Texts {
 public:
  Texts(char* bytes, std::uint64_t offset) : bytes_(bytes), next_(offset) {}

  // Gives the offset.
  std::uint64_t add(std::string_view text) {
    text = cut_text(text, sizeof(TextRecord) - 1);
    std::memcpy(bytes_ + next_, text.data(), text.size());
    return std::exchange(next_, next_ + sizeof(TextRecord));
  }

 private:
  char* bytes_;
  std::uint64_t next_;
};

std::vector<LabelRecord> labels_of(const MmvOwner& owner, const std::vector<MmvInstance>& instances,
                                   const std::vector<std::int32_t>& numbers) {
  std::vector<LabelRecord> labels;
  const auto add = [&](std::uint32_t flags, std::uint32_t identity, std::int32_t instance,
                       std::string_view name, std::string_view value) {
    const std::string text = json_of(name, value);
    if (text.empty()) return;
    LabelRecord& label = labels.emplace_back();
    label = {flags, identity, instance, {}};
    text.copy(label.payload.data(), text.size());
  };
  add(kLabelOfCluster, static_cast<std::uint32_t>(owner.cluster()), kNoInstance, "service",
      owner.service);
  const std::size_t of_service = labels.size();
  for (std::size_t i = 0; i < instances.size() && labels.size() <= kMostLabels; ++i) {
    if (instances[i].tag == nullptr) continue;
    const auto dimensions = parse_dimensions(name_of(*instances[i].tag));
    if (!dimensions) continue;
    for (const Dimension& each : dimensions->labels)
      add(kLabelOfInstance, static_cast<std::uint32_t>(instances[i].type), numbers[i], each.key,
          each.value);
  }
  if (labels.size() > kMostLabels) labels.resize(of_service);
  return labels;
}

// Puts the records of an image, section by section.
class ImageWriter {
 public:
  ImageWriter(const MmvOwner& owner, const std::vector<MmvInstance>& instances,
              const std::vector<std::int32_t>& numbers, std::uint64_t generation)
      : owner_(owner),
        instances_(instances),
        numbers_(numbers),
        labels_(labels_of(owner, instances, numbers)) {
    count();
    Layout layout(kLabels);
    domains_ = layout.next<DomainRecord>(kDomains, domains_.count);
    names_ = layout.next<InstanceRecord>(kInstances, instances.size());
    metrics_ = layout.next<MetricRecord>(kMetrics, metrics_.count);
    values_ = layout.next<ValueRecord>(kValues, values_.count);
    const Layout::Part labels = layout.next<LabelRecord>(kLabels, labels_.size());
    constexpr std::size_t kTextsOfMetric = 3;
    const Layout::Part texts =
        layout.next<TextRecord>(kTexts, 1 + kTextsOfMetric * metrics_.count + instances.size());
    bytes_.resize(layout.size());
    texts_.emplace(bytes_.data(), texts.offset);
    put_header({domains_, names_, metrics_, values_, labels, texts}, generation);
    put_labels(labels.offset);
  }

  // Call this once.
  std::pair<std::string, std::vector<MmvImage::ValueBlock>> write() {
    const std::uint64_t help = texts_->add("tags of a traced program");
    for (const TraceType type : kTraceTypes) {
      const std::size_t count = counts_[index_of(type)];
      if (count == 0) continue;
      put_next(domains_,
               DomainRecord{static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(count),
                            names_.offset, help, help});
      const std::uint64_t first_metric = metrics_.offset;
      for (const MmvMetric& each : mmv_metrics(type)) put_metric(each);
      put_instances(type, first_metric);
    }
    return {std::move(bytes_), std::move(blocks_)};
  }

 private:
  void count() {
    for (const MmvInstance& each : instances_) {
      ++counts_[index_of(each.type)];
      for (const MmvMetric& metric : mmv_metrics(each.type))
        values_.count += metric.bits(each) != kNoMmvValue ? 1 : 0;
    }
    for (const TraceType type : kTraceTypes) {
      if (counts_[index_of(type)] == 0) continue;
      ++domains_.count;
      metrics_.count += mmv_metrics(type).size();
    }
  }

  // The part's offset becomes that of the next record.
  template <typename Record>
  void put_next(Layout::Part& part, const Record& record) {
    put(bytes_.data(), part.offset, record);
    part.offset += sizeof record;
  }

  void put_header(const std::array<Layout::Part, kLabels>& parts, std::uint64_t generation) {
    MmvHeader header;
    header.generation1 = header.generation2 = generation;
    header.sections = static_cast<std::int32_t>(parts.size());
    // A pmdammv outside of this process's namespace would look for another process.
    header.flags = kWholeNames | (owner_.at_namespace.empty() ? kVanishesWithProcess : 0);
    header.process = owner_.process;
    header.cluster = owner_.cluster();
    put(bytes_.data(), 0, header);
    std::uint64_t at = sizeof header;
    for (const Layout::Part& part : parts) {
      put(bytes_.data(), at,
          SectionRecord{part.type, static_cast<std::int32_t>(part.count), part.offset});
      at += sizeof(SectionRecord);
    }
  }

  void put_labels(std::uint64_t at) {
    for (const LabelRecord& label : labels_) {
      put(bytes_.data(), at, label);
      at += sizeof label;
    }
  }

  void put_metric(const MmvMetric& metric) {
    put_next(metrics_, MetricRecord{texts_->add(owner_.metrics + '.' + metric.name), metric.item,
                                    static_cast<std::int32_t>(metric.value),
                                    static_cast<std::int32_t>(metric.semantics),
                                    static_cast<std::uint32_t>(metric.units),
                                    static_cast<std::int32_t>(metric.type), 0,
                                    texts_->add(metric.line), texts_->add(metric.text)});
  }

  // Requires: the type's domain is the last one that was put.
  void put_instances(TraceType type, std::uint64_t first_metric) {
    const std::uint64_t domain = domains_.offset - sizeof(DomainRecord);
    std::unordered_set<std::string> words;
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      if (instances_[i].type != type) continue;
      const std::string name = distinct(owner_.name_of(instances_[i].tag), numbers_[i], words);
      put_values(i, first_metric);
      put_next(names_, InstanceRecord{domain, 0, numbers_[i], texts_->add(name)});
    }
  }

  // Requires: the instance is the next one to be put.
  void put_values(std::size_t i, std::uint64_t metric) {
    MmvImage::ValueBlock& block = blocks_[i];
    block.values = values_.offset;
    std::uint32_t bit = 1;
    for (const MmvMetric& each : mmv_metrics(instances_[i].type)) {
      if (const std::uint64_t bits = each.bits(instances_[i]); bits != kNoMmvValue) {
        put_next(values_, ValueRecord{bits, 0, metric, names_.offset});
        block.present |= bit;
      }
      metric += sizeof(MetricRecord);
      bit <<= 1;
    }
  }

  const MmvOwner& owner_;
  const std::vector<MmvInstance>& instances_;
  const std::vector<std::int32_t>& numbers_;
  const std::vector<LabelRecord> labels_;
  std::array<std::size_t, kTraceTypes.size()> counts_{};  // of instances, by type
  Layout::Part domains_{}, names_{}, metrics_{}, values_{};
  std::string bytes_;
  std::vector<MmvImage::ValueBlock> blocks_{instances_.size()};
  std::optional<Texts> texts_;
};

}  // namespace

// PCP has 12 bits for a cluster, but with more than 11 pmdammv finds no labels of instances. 0
// would let pmdammv choose.
std::int32_t MmvOwner::cluster() const {
  constexpr std::uint64_t kMost = 2047;
  return static_cast<std::int32_t>(hash_of_name(metrics) % kMost + 1);
}

std::string MmvOwner::name_of(const Tag* tag) const {
  return std::to_string(process) + at_namespace + '/' +
         without_controls(tag != nullptr ? client::name_of(*tag) : kOverflowName);
}

MmvImage::MmvImage(const MmvOwner& owner, const std::vector<MmvInstance>& instances,
                   const std::vector<std::int32_t>& numbers, std::uint64_t generation) {
  std::tie(bytes_, blocks_) = ImageWriter(owner, instances, numbers, generation).write();
}

bool MmvImage::set_values(std::size_t i, const MmvInstance& instance) {
  std::uint64_t at = blocks_[i].values;
  std::uint32_t present = blocks_[i].present;
  bool has_room_for_all = true;
  for (const MmvMetric& each : mmv_metrics(instance.type)) {
    const std::uint64_t bits = each.bits(instance);
    const bool is_present = (present & 1) != 0;
    has_room_for_all &= is_present == (bits != kNoMmvValue);
    if (is_present) {
      if (bits != kNoMmvValue) put(bytes_.data(), at, bits);
      at += sizeof(ValueRecord);
    }
    present >>= 1;
  }
  return has_room_for_all;
}

std::string_view MmvImage::values_of(std::size_t i) const {
  const auto records = static_cast<std::size_t>(std::popcount(blocks_[i].present));
  return std::string_view(bytes_).substr(blocks_[i].values, records * sizeof(ValueRecord));
}

}  // namespace pcp::trace::client
