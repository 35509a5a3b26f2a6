// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/black_box.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "wire/trace_type.hpp"

namespace pcp::trace::agent {

namespace {

using namespace wire::box;

// At least one record, and one element.
constexpr std::size_t kPiece = 256 * 1024;

constexpr std::uint64_t kRecordAlignment = 8;

template <typename Value>
Value value_at(std::string_view bytes) {
  Value value{};
  std::memcpy(static_cast<void*>(&value), bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

std::uint32_t span_flags(std::uint64_t packed) {
  constexpr std::uint64_t kW3c = 3;
  return static_cast<std::uint32_t>(packed & kW3c) |
         ((packed & (kCameIn | kIsInsideOneThatCameIn)) != 0 ? wire::kParentIsElsewhere : 0) |
         ((packed & kProgramWants) != 0 ? wire::kIsWanted : 0);
}

CaptureBits bits_of(std::uint64_t packed) {
  return static_cast<CaptureBits>(packed >> kCaptureBitsAt);
}

}  // namespace

// The seals come first: they show that the kernel serves the file. Any other call may wait for a
// file system of the sender's.
Result<BlackBox> BlackBox::take(Descriptor memory) {
  const int seals = ::fcntl(memory.get(), F_GET_SEALS);
  if (seals < 0 || (~seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != 0)
    return Error{"it is not a memory that is sealed against shrinking and growing"};
  struct stat status {};
  if (::fstat(memory.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Error{"it is not a memory"};
  struct {
    std::uint64_t layout;
    std::uint64_t ring_bytes;
  } head{};
  static_assert(offsetof(Head, layout) == 0 && offsetof(Head, ring_bytes) == sizeof head.layout);
  if (::pread(memory.get(), &head, sizeof head, 0) != sizeof head || head.layout != kLayout)
    return Error{"its layout is not this agent's"};
  if (head.ring_bytes == 0 || head.ring_bytes % kPage != 0 || head.ring_bytes > kMostRingBytes ||
      static_cast<std::uint64_t>(status.st_size) != file_bytes(head.ring_bytes))
    return Error{"it has " + std::to_string(status.st_size) + " bytes, and says that " +
                 std::to_string(head.ring_bytes) + " of them are for ended spans"};
  return BlackBox(std::move(memory), head.ring_bytes);
}

bool BoxReader::read_on(const Visit& visit) {
  static constexpr Part kParts[] = {&BoxReader::read_head, &BoxReader::read_tags,
                                    &BoxReader::read_ring, &BoxReader::read_nodes,
                                    &BoxReader::read_slots};
  if (!(this->*kParts[part_])(visit)) {
    ++part_;
    next_ = 0;
  }
  return part_ < std::size(kParts);
}

// Gives fewer bytes if there are no more.
std::string_view BoxReader::read(std::size_t at, std::size_t most) {
  bytes_.resize(most);
  const ssize_t got = ::pread(box_.descriptor(), bytes_.data(), most, static_cast<off_t>(at));
  return {bytes_.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

// Uses a piece of the elements in an area. Skips pages that nobody has written.
template <typename Element, typename Use>
bool BoxReader::read_elements(std::size_t at, std::size_t bytes, Use use) {
  const off_t data = ::lseek(box_.descriptor(), static_cast<off_t>(at + next_), SEEK_DATA);
  if (data < 0) return false;
  // An element may begin before the page.
  const std::size_t written = (static_cast<std::size_t>(data) - at) / sizeof(Element);
  next_ = std::max(next_, written * sizeof(Element));
  if (next_ + sizeof(Element) > bytes) return false;
  std::string_view piece =
      read(at + next_, std::min(kPiece / sizeof(Element) * sizeof(Element), bytes - next_));
  if (piece.size() < sizeof(Element)) return false;
  for (; piece.size() >= sizeof(Element); piece.remove_prefix(sizeof(Element))) {
    use(value_at<Element>(piece), next_ / sizeof(Element));
    next_ += sizeof(Element);
  }
  return true;
}

bool BoxReader::read_head(const Visit&) {
  wall_minus_monotonic_ =
      value_at<std::uint64_t>(read(offsetof(Head, wall_minus_monotonic), sizeof(std::uint64_t)));
  if (value_at<std::uint32_t>(read(offsetof(Head, is_ending), sizeof(std::uint32_t))) != 0)
    died_ns_.reset();
  sets_ = value_at<decltype(sets_)>(read(offsetof(Head, sets), sizeof sets_));
  missed_ = value_at<decltype(missed_)>(read(offsetof(Head, missed), sizeof missed_));
  struct {
    std::uint64_t tail, head;
  } ring{};
  static_assert(sizeof ring == sizeof(RingHead) && offsetof(RingHead, tail) == 0);
  ring = value_at<decltype(ring)>(read(kRingHeadAt, sizeof ring));
  is_ring_torn_ =
      ring.head - ring.tail > box_.ring_bytes() || (ring.head | ring.tail) % kRecordAlignment != 0;
  head_ = ring.head;
  position_ = is_ring_torn_ ? head_ : ring.tail;
  return false;
}

bool BoxReader::read_tags(const Visit&) {
  const bool goes_on = read_elements<Tag>(
      offsetof(Head, tags), sizeof(Head::tags), [&](const Tag& tag, std::size_t id) {
        if (tag.address == 0 || tag.length > kMaxTagLength ||
            tag.text_at > kMostTagText - tag.length)
          return;
        tags_.resize(id + 1);
        tags_[id] = tag;
        by_address_.emplace_back(tag.address, static_cast<std::uint32_t>(id));
      });
  if (!goes_on) std::ranges::sort(by_address_);
  return goes_on;
}

// Uses a piece of the ring. After a wrong number nobody knows where the next record begins.
bool BoxReader::read_ring(const Visit& visit) {
  const std::uint64_t began = position_;
  const std::uint64_t offset = began % box_.ring_bytes();
  const std::uint64_t end = began + std::min(head_ - began, box_.ring_bytes() - offset);
  std::string_view piece = read(kRingAt + offset, std::min<std::uint64_t>(end - began, kPiece));
  while (!piece.empty()) {
    const auto record = value_at<Record>(piece);
    const bool is_gap = record.tag_and_flags == kGap;
    const std::size_t bytes =
        (record.bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
    is_ring_torn_ = record.bytes < (is_gap ? kRecordAlignment : sizeof(Record));
    if (is_ring_torn_ || bytes > piece.size()) break;
    if (!is_gap) use(record, piece.substr(sizeof(Record), record.bytes - sizeof(Record)), visit);
    piece.remove_prefix(bytes);
    position_ += bytes;
  }
  is_ring_torn_ |= position_ == began && position_ != head_;
  return !is_ring_torn_ && position_ != head_;
}

bool BoxReader::read_nodes(const Visit& visit) {
  return read_elements<Node>(kNodesAt, kNodesBytes,
                             [&](const Node& node, std::size_t) { use(node, visit); });
}

bool BoxReader::read_slots(const Visit& visit) {
  return died_ns_ && read_elements<Slot>(kSlotsAt, kSlotsBytes,
                                         [&](const Slot& slot, std::size_t) { use(slot, visit); });
}

void BoxReader::use(const Record& record, std::string_view fields, const Visit& visit) {
  const auto later =
      static_cast<std::int32_t>(record.sequence - static_cast<std::uint32_t>(last_events_));
  BoxSpan found;
  const CaptureBits taken = later > 0 ? 0 : record.in_flight;
  const CaptureBits undecided = record.undecided & ~taken;
  found.is_sure = found.wants_trace = record.to_send | (record.in_flight & ~taken & ~undecided);
  // Behind the fields, so that it replaces what they may not have.
  fields_ = fields;
  wire::append_span_fields(
      fields_, {.trace = {.low = record.trace_low}, .capture_bits = undecided | found.is_sure});
  if (!wire::decode_span_fields(fields_, decoded_)) return;
  found.span = decoded_.spans.front();
  found.span.trace.low = record.trace_low;
  found.span.flags = span_flags(record.tag_and_flags);
  found.control = control_of(record.epoch, UINT16_MAX);
  set_tag(found, record.tag_and_flags >> 8);
  if (wire::is_valid(found.span)) visit(found);
}

void BoxReader::use(const Node& node, const Visit& visit) {
  if (node.is_live != 1) return;
  BoxSpan found;
  wire::Span& span = found.span;
  span.kind = wire::SpanKind{node.kind};
  span.begin_ns = node.begin_ns + wall_minus_monotonic_;
  span.duration_ns = node.duration_ns;
  span.trace = {node.trace_high, node.trace_low};
  const bool is_event = wire::is_event(span.kind);
  span.span = is_event && node.own == 0 ? node.parent : node.own;
  span.parent = is_event ? 0 : node.parent;
  span.flags = span_flags(node.packed);
  span.tid = node.tid;
  span.capture_bits = bits_of(node.packed);
  span.aborted = node.aborted != 0;
  span.left_out = node.notes != 0 ? 1 : 0;
  span.value = node.value;
  found.wants_trace = node.slow_for;
  found.control = control_of(node.epoch, UINT32_MAX);
  set_tag_at(found, node.tag);
  if (wire::is_valid(span)) visit(found);
}

void BoxReader::use(const Slot& slot, const Visit& visit) {
  if (slot.begun % 2 == 0) return;  // without `own` it is not valid
  const std::uint64_t begun_ns = slot.begun / 2;
  BoxSpan found;
  wire::Span& span = found.span;
  span.kind = (slot.packed & kCameIn) != 0 ? wire::SpanKind::Server : wire::SpanKind::Internal;
  span.begin_ns = begun_ns + wall_minus_monotonic_;
  span.duration_ns = *died_ns_ - std::min(*died_ns_, begun_ns);
  span.trace = {slot.trace_high, slot.trace_low};
  span.span = slot.own;
  span.parent = slot.parent;
  span.flags = span_flags(slot.packed) | wire::kWasOpen;
  span.tid = slot.tid;
  span.capture_bits = bits_of(slot.packed) & ~slot.left_out;
  found.may_want_it = slot.reason_for & ~slot.left_out;
  const auto low = static_cast<std::uint32_t>(slot.head);
  if (is_open(slot.head))
    found.reasons = low >> kReasonsAt & wire::kNotedReasons;
  else
    found.wants_trace = low;
  found.control = control_of(slot.epoch, UINT32_MAX);
  set_tag_at(found, slot.tag);
  if (wire::is_valid(span)) visit(found);
}

wire::CaptureCount BoxReader::missed_of(std::uint64_t capture) const {
  const auto found = std::ranges::find(missed_, capture, &Missed::capture);
  if (found == missed_.end()) return {.capture = capture};
  return {.capture = capture,
          .missed_full = found->full,
          .missed_limit = found->limit,
          .missed_waiting = found->waiting,
          .missed_away = found->away};
}

// 0: unknown. A record has a part of its epoch.
std::uint64_t BoxReader::control_of(std::uint32_t epoch, std::uint32_t mask) const {
  const Set& set = sets_[epoch % sets_.size()];
  return (set.epoch & mask) == epoch ? set.control : 0;
}

void BoxReader::set_tag_at(BoxSpan& found, std::uint64_t address) {
  const auto tag = std::ranges::lower_bound(by_address_, std::pair{address, std::uint32_t{0}});
  const bool is_known = tag != by_address_.end() && tag->first == address;
  set_tag(found, is_known ? tag->second : kUnknownTag);
}

void BoxReader::set_tag(BoxSpan& found, std::uint32_t id) {
  found.span.tag_id = kUnknownTag;
  found.tag = "(unknown tag)";
  if (id >= tags_.size()) return;  // one that is not known there has no text
  tag_.resize(tags_[id].length);
  const ssize_t got = ::pread(box_.descriptor(), tag_.data(), tag_.size(),
                              static_cast<off_t>(kTagTextAt + tags_[id].text_at));
  if (got != static_cast<ssize_t>(tag_.size()) || !is_tag(tag_)) return;
  found.span.tag_id = id;
  found.tag = tag_;
}

}  // namespace pcp::trace::agent
