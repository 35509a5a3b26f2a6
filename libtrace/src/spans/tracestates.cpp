// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/tracestates.hpp"

#include <algorithm>
#include <cstring>

#include "platform/texts.hpp"

namespace pcp::trace::client {

constinit Tracestates tracestates;

namespace {

constexpr std::size_t kMostKey = 256;
constexpr std::size_t kMostValue = 256;
constexpr std::size_t kLongMember = 128;  // dropped first if there is no room for all

bool is_key(std::string_view key) {
  const auto is_small = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !key.empty() && key.size() <= kMostKey && is_small(key.front()) &&
         std::all_of(key.begin(), key.end(), [&](char c) {
           return is_small(c) || std::string_view("_-*/@").find(c) != std::string_view::npos;
         });
}

bool is_value(std::string_view value) {
  return !value.empty() && value.size() <= kMostValue && value.back() != ' ' &&
         std::all_of(value.begin(), value.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

bool is_member(std::string_view member) {
  const std::size_t equals = member.find('=');
  return equals != std::string_view::npos && is_key(member.substr(0, equals)) &&
         is_value(member.substr(equals + 1));
}

// key=value members, with commas between them.
class Members {
 public:
  // Empty if a member is invalid, or there are too many. Empty members do not count.
  explicit Members(std::string_view header) {
    for (bool more = true; more;) {
      const std::size_t comma = header.find(',');
      const std::string_view member = trimmed(header.substr(0, comma));
      more = comma != std::string_view::npos;
      if (more) header.remove_prefix(comma + 1);
      if (member.empty()) continue;
      if (!is_member(member) || count_ == members_.size()) {
        count_ = 0;
        return;
      }
      members_[count_++] = member;
    }
  }

  void cut(std::size_t most_bytes) {
    if (length() > most_bytes) {
      const auto is_long = [](std::string_view member) { return member.size() > kLongMember; };
      count_ =
          static_cast<std::size_t>(std::remove_if(begin(), begin() + count_, is_long) - begin());
    }
    while (length() > most_bytes) --count_;
  }

  std::size_t write(char* const text) {
    char* to = text;
    for (std::size_t i = 0; i < count_; ++i) {
      if (i > 0) *to++ = ',';
      to = std::copy(members_[i].begin(), members_[i].end(), to);
    }
    return static_cast<std::size_t>(to - text);
  }

 private:
  std::string_view* begin() { return members_.data(); }
  std::size_t length() const {
    std::size_t length = count_ == 0 ? 0 : count_ - 1;
    for (std::size_t i = 0; i < count_; ++i) length += members_[i].size();
    return length;
  }

  std::array<std::string_view, 32> members_;  // W3C's most
  std::size_t count_ = 0;
};

}  // namespace

std::size_t pass_on_tracestate(std::string_view header, Tracestates::Text& text) {
  Members members(header);
  members.cut(Tracestates::kMostBytes);
  return members.write(text.data());
}

Tracestates::Reference Tracestates::keep(std::string_view header, std::uint64_t trace_low) {
  Text text{};
  const std::size_t length = pass_on_tracestate(header, text);
  if (length == 0) return kNone;
  Slots* const all = slots_.find_or_make();
  if (all == nullptr) return kNone;
  const Reference reference = (last_.fetch_add(1, std::memory_order_relaxed) + 1) & kLast;
  if (reference == kNone) return kNone;
  Slot& slot = (*all)[reference % kMostTexts];
  // All other slots were used meanwhile, and this slot's writer is not done: drop this text.
  if (slot.is_being_written.exchange(true, std::memory_order_acquire)) return kNone;
  slot.holds.store(kNone, std::memory_order_relaxed);
  for (std::size_t i = 0; i < slot.words.size(); ++i) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i * sizeof word, sizeof word);
    slot.words[i].store(word, std::memory_order_release);
  }
  slot.length.store(static_cast<std::uint32_t>(length), std::memory_order_release);
  slot.trace_low.store(trace_low, std::memory_order_release);
  slot.holds.store(reference, std::memory_order_release);
  slot.is_being_written.store(false, std::memory_order_release);
  return reference;
}

std::size_t Tracestates::copy(Reference reference, std::uint64_t trace_low, Text& text) const {
  text[0] = '\0';
  Slots* const all = slots_.find();
  if (reference == kNone || all == nullptr) return 0;
  const Slot& slot = (*all)[reference % kMostTexts];
  if (slot.holds.load(std::memory_order_acquire) != reference) return 0;
  if (slot.trace_low.load(std::memory_order_acquire) != trace_low) return 0;
  for (std::size_t i = 0; i < slot.words.size(); ++i) {
    const std::uint64_t word = slot.words[i].load(std::memory_order_acquire);
    std::memcpy(text.data() + i * sizeof word, &word, sizeof word);
  }
  const std::size_t length = slot.length.load(std::memory_order_acquire);
  if (slot.holds.load(std::memory_order_relaxed) != reference) {
    text[0] = '\0';
    return 0;
  }
  text[length] = '\0';
  return length;
}

}  // namespace pcp::trace::client
