// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mmv/mmv_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "mmv/mmv_metrics.hpp"
#include "platform/texts.hpp"
#include "wire/dimensions.hpp"
#include "wire/first_word.hpp"

namespace pcp::trace::client {
namespace {

// The records of mmv(5), version 3. All numbers have this machine's byte order.
struct HeaderRecord {
  std::array<char, 4> magic{'M', 'M', 'V', '\0'};
  std::int32_t version = 3;
  std::uint64_t generation1 = 0;
  std::uint64_t generation2 = 0;
  std::int32_t sections = 0;
  std::int32_t flags = 0;
  std::int32_t process = 0;
  std::int32_t cluster = 0;
};
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
static_assert(sizeof(HeaderRecord) == 40 && sizeof(SectionRecord) == 16 &&
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

// PCP has 12 bits for a cluster, but with more than 11 pmdammv finds no labels of instances. 0
// would let pmdammv choose.
std::int32_t cluster_of(std::string_view metrics) {
  constexpr std::uint64_t kMost = 2047;
  return static_cast<std::int32_t>(hash_of_name(metrics) % kMost + 1);
}

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

constexpr std::uint64_t kMachinesNamespace = 0;
constexpr std::uint64_t kUnknownNamespace = ~std::uint64_t{0};

// The number of this process's namespace of process ids.
std::uint64_t own_namespace() {
  constexpr std::uint64_t kMachines = 0xEFFF'FFFC;
  struct stat its {};
  if (::stat("/proc/self/ns/pid", &its) != 0) return kUnknownNamespace;
  return its.st_ino == kMachines ? kMachinesNamespace : its.st_ino;
}

// Gives 0 or an error number.
int write_at(const OwnDescriptor& file, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    if (!file.is_ours()) return EBADF;
    const ssize_t written =
        ::pwrite(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return 0;
}

// Makes a file with these bytes; or gives an error number, and there is no file.
int make(const std::string& path, std::string_view bytes, OwnDescriptor& file,
         std::uint64_t& inode) {
  ::unlink(path.c_str());  // left by a killed process with this id
  if (!file.take(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)))
    return errno;
  ::fchmod(file.number(), 0644);  // PCP's user reads it, whatever this process's umask is
  int error = write_at(file, bytes, 0);
  struct stat its {};
  if (error == 0 && ::fstat(file.number(), &its) != 0) error = errno;
  inode = its.st_ino;
  if (error == 0) return 0;
  file.close();
  ::unlink(path.c_str());
  return error;
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
      : end_(sizeof(HeaderRecord) + sections * sizeof(SectionRecord)) {}

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

std::vector<LabelRecord> labels_of(const std::vector<MmvInstance>& instances,
                                   std::string_view service, std::int32_t cluster,
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
  add(kLabelOfCluster, static_cast<std::uint32_t>(cluster), kNoInstance, "service", service);
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

}  // namespace

MmvFile::MmvFile(std::string directory, std::string metrics, std::string service,
                 std::array<OwnDescriptor, 2>& files)
    : directory_(std::move(directory)),
      metrics_(std::move(metrics)),
      service_(std::move(service)),
      pid_(::getpid()),
      namespace_(own_namespace()),
      at_namespace_(namespace_ == kMachinesNamespace ? "" : '@' + std::to_string(namespace_)),
      files_(files) {}

std::string MmvFile::path(const char* before) const {
  return directory_ + '/' + before + metrics_ + '_' + std::to_string(pid_) + at_namespace_;
}

// A number has ten bits for an instance of the file, from its name, so that a tag keeps its number
// after exec; and 21 for the process, since pmdammv puts the instances of all files together.
void MmvFile::number(const std::vector<MmvInstance>& instances) {
  static_assert(MmvTotals::kMostInstances + kTraceTypes.size() <= kMostNumbers);
  constexpr unsigned kPidBits = 21;
  const auto process = static_cast<std::uint32_t>(static_cast<std::uint64_t>(pid_) + namespace_) &
                       ((1u << kPidBits) - 1);
  while (numbers_.size() < instances.size()) {
    const MmvInstance& its = instances[numbers_.size()];
    std::size_t own =
        hash_of_name(its.tag != nullptr ? name_of(*its.tag) : kOverflowName) + index_of(its.type);
    while (taken_[own % kMostNumbers]) ++own;
    taken_[own % kMostNumbers] = true;
    numbers_.push_back(static_cast<std::int32_t>(process * kMostNumbers + own % kMostNumbers));
  }
}

// False for a file of another library. A hidden file may have been left before it had a header.
bool MmvFile::is_ours(const std::string& path, pid_t process, bool is_hidden) const {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  HeaderRecord header{{}, 0};
  const ssize_t size = ::read(fd, &header, sizeof header);
  ::close(fd);
  if (is_hidden && (size == 0 || (size == sizeof header && header.version == 0))) return true;
  return size == sizeof header && header.magic == HeaderRecord().magic &&
         header.version == HeaderRecord().version && header.process == process &&
         header.cluster == cluster_of(metrics_);
}

bool MmvFile::is_in_place() const {
  struct stat its {};
  return ::lstat(path("").c_str(), &its) == 0 && is_own(its);
}

bool MmvFile::is_whole() {
  struct stat its {};
  return file().is_ours() && ::fstat(file().number(), &its) == 0 && is_own(its);
}

bool MmvFile::is_own(const struct stat& file) const {
  return file.st_ino == inode_ && file.st_size == static_cast<off_t>(bytes_.size());
}

int MmvFile::replace(const std::vector<MmvInstance>& instances) {
  if (namespace_ == kUnknownNamespace) return ESRCH;
  struct stat its {};
  if (::lstat(path("").c_str(), &its) == 0 && its.st_ino != inode_ &&
      !is_ours(path(""), pid_, false))
    return EEXIST;
  const std::int32_t cluster = cluster_of(metrics_);
  number(instances);
  const std::vector<LabelRecord> labels = labels_of(instances, service_, cluster, numbers_);
  std::array<std::size_t, kTraceTypes.size()> counts{};
  std::size_t values = 0;
  for (const MmvInstance& each : instances) {
    ++counts[index_of(each.type)];
    for (const MmvMetric& metric : mmv_metrics(each.type))
      values += metric.bits(each) != kNoMmvValue ? 1 : 0;
  }
  std::size_t domains = 0;
  std::size_t metrics = 0;
  for (const TraceType type : kTraceTypes) {
    if (counts[index_of(type)] == 0) continue;
    ++domains;
    metrics += mmv_metrics(type).size();
  }
  constexpr std::size_t kTextsOfMetric = 3;
  Layout layout(kLabels);
  const std::array parts{
      layout.next<DomainRecord>(kDomains, domains),
      layout.next<InstanceRecord>(kInstances, instances.size()),
      layout.next<MetricRecord>(kMetrics, metrics),
      layout.next<ValueRecord>(kValues, values),
      layout.next<LabelRecord>(kLabels, labels.size()),
      layout.next<TextRecord>(kTexts, 1 + kTextsOfMetric * metrics + instances.size())};
  const auto& [domain_part, instance_part, metric_part, value_part, label_part, text_part] = parts;

  const std::string hidden = path(".");
  std::string made(layout.size(), '\0');
  char* const bytes = made.data();
  Texts texts(bytes, text_part.offset);
  const std::uint64_t help = texts.add("tags of a traced program");

  HeaderRecord header;
  header.sections = static_cast<std::int32_t>(parts.size());
  // A pmdammv outside of this process's namespace would look for another process.
  header.flags = kWholeNames | (namespace_ == kMachinesNamespace ? kVanishesWithProcess : 0);
  header.process = pid_;
  header.cluster = cluster;
  std::uint64_t at = sizeof header;
  for (const Layout::Part& part : parts) {
    put(bytes, at, SectionRecord{part.type, static_cast<std::int32_t>(part.count), part.offset});
    at += sizeof(SectionRecord);
  }

  std::vector<ValueBlock> blocks(instances.size());
  std::uint64_t domain = domain_part.offset;
  std::uint64_t instance = instance_part.offset;
  std::uint64_t metric = metric_part.offset;
  std::uint64_t value = value_part.offset;
  for (const TraceType type : kTraceTypes) {
    const std::size_t count = counts[index_of(type)];
    if (count == 0) continue;
    const auto serial = static_cast<std::int32_t>(type);
    put(bytes, domain,
        DomainRecord{static_cast<std::uint32_t>(serial), static_cast<std::uint32_t>(count),
                     instance, help, help});
    const std::uint64_t first_metric = metric;
    std::unordered_set<std::string> words;
    for (const MmvMetric& each : mmv_metrics(type)) {
      put(bytes, metric,
          MetricRecord{texts.add(metrics_ + '.' + each.name), each.item,
                       static_cast<std::int32_t>(each.value),
                       static_cast<std::int32_t>(each.semantics),
                       static_cast<std::uint32_t>(each.units), serial, 0, texts.add(each.line),
                       texts.add(each.text)});
      metric += sizeof(MetricRecord);
    }
    for (std::size_t i = 0; i < instances.size(); ++i) {
      if (instances[i].type != type) continue;
      const Tag* const tag = instances[i].tag;
      const std::string name = std::to_string(pid_) + at_namespace_ + '/' +
                               without_controls(tag != nullptr ? name_of(*tag) : kOverflowName);
      put(bytes, instance,
          InstanceRecord{domain, 0, numbers_[i], texts.add(distinct(name, numbers_[i], words))});
      blocks[i].values = value;
      std::uint64_t of = first_metric;
      std::uint32_t bit = 1;
      for (const MmvMetric& each : mmv_metrics(type)) {
        if (const std::uint64_t bits = each.bits(instances[i]); bits != kNoMmvValue) {
          put(bytes, value, ValueRecord{bits, 0, of, instance});
          value += sizeof(ValueRecord);
          blocks[i].present |= bit;
        }
        of += sizeof(MetricRecord);
        bit <<= 1;
      }
      instance += sizeof(InstanceRecord);
    }
    domain += sizeof(DomainRecord);
  }
  for (std::size_t i = 0; i < labels.size(); ++i)
    put(bytes, label_part.offset + i * sizeof(LabelRecord), labels[i]);

  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  generation_ = std::max(generation_ + 1, static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                                              static_cast<std::uint64_t>(now.tv_nsec));
  header.generation1 = header.generation2 = generation_;
  put(bytes, 0, header);
  OwnDescriptor& next = files_[1 - present_];
  std::uint64_t inode = 0;
  if (const int error = make(hidden, made, next, inode); error != 0) return error;
  if (::rename(hidden.c_str(), path("").c_str()) != 0) {
    const int error = errno;
    ::unlink(hidden.c_str());
    next.close();
    return error;
  }
  // Tells a pmdammv that has the old file mapped that there is a new one.
  if (is_whole()) write_at(file(), std::string_view(made).substr(0, sizeof header), 0);
  file().close();
  present_ = 1 - present_;
  bytes_ = std::move(made);
  inode_ = inode;
  blocks_ = std::move(blocks);
  return 0;
}

bool MmvFile::write(std::vector<MmvInstance>& instances) {
  if (size() > 0 && !is_whole()) {
    file().close();
    return false;
  }
  bool is_good = true;
  for (std::size_t i = 0; i < size(); ++i)
    if (std::exchange(instances[i].is_changed, false)) is_good &= write(blocks_[i], instances[i]);
  return is_good;
}

bool MmvFile::write(const ValueBlock& block, const MmvInstance& instance) {
  std::uint64_t at = block.values;
  std::uint32_t present = block.present;
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
  const std::string_view values = std::string_view(bytes_).substr(block.values, at - block.values);
  return write_at(file(), values, block.values) == 0 && has_room_for_all;
}

void MmvFile::touch_directory() const {
  const std::string hidden = path(".");
  const int fd = ::open(hidden.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return;
  ::close(fd);
  ::unlink(hidden.c_str());
}

void MmvFile::remove() {
  if (!bytes_.empty() && is_in_place()) ::unlink(path("").c_str());
  file().close();
  bytes_.clear();
  blocks_.clear();
}

void MmvFile::remove_dead() const {
  if (namespace_ == kUnknownNamespace) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> files(::opendir(directory_.c_str()), ::closedir);
  if (!files) return;
  while (const dirent* const file = ::readdir(files.get())) {
    std::string_view name = file->d_name;
    if (name.starts_with('.')) name.remove_prefix(1);
    if (!name.starts_with(metrics_ + '_')) continue;
    name.remove_prefix(metrics_.size() + 1);
    pid_t process = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
    const bool is_process =
        error == std::errc() && process > 0 && name == std::to_string(process) + at_namespace_;
    const std::string path = directory_ + '/' + file->d_name;
    if (is_process && ::kill(process, 0) != 0 && errno == ESRCH &&
        is_ours(path, process, file->d_name[0] == '.'))
      ::unlink(path.c_str());
  }
}

}  // namespace pcp::trace::client
