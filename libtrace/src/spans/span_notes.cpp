// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/span_notes.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>

#include "open/by_entry.hpp"
#include "platform/guards.hpp"

namespace pcp::trace::client {
namespace {

// A forked child inherits the number but no notes: at worst it has less room. Orders nothing else.
std::atomic<std::size_t> all_bytes{0};

std::atomic<bool> traces_cross{false};  // orders nothing else

struct NotesSlot {
  std::atomic<SpanNotes*> notes;  // released by their maker, acquired by the thread that takes them
  std::atomic<Moment> begun;      // of the notes; orders nothing else
  std::atomic<Moment> sent;       // begin of the transaction sent; orders nothing else
};
ByEntry<NotesSlot> all_notes;

// Estimated memory of an attribute without its texts.
constexpr std::size_t kAround = 80;

}  // namespace

SpanNotes::~SpanNotes() { all_bytes.fetch_sub(bytes_, std::memory_order_relaxed); }

// Replaces `before` bytes by `after`. False, counted in left_out_, if there is no room.
bool SpanNotes::change_room(std::size_t before, std::size_t after) {
  const std::size_t others =
      all_bytes.fetch_add(after - before, std::memory_order_relaxed) - before;
  if (after <= before || others + after <= kMostBytes) {
    bytes_ += after - before;
    return true;
  }
  all_bytes.fetch_sub(after - before, std::memory_order_relaxed);
  ++left_out_;
  return false;
}

void SpanNotes::add(std::string_view key, std::string_view text, std::optional<double> number) {
  const auto same = std::find_if(attributes_.begin(), attributes_.end(),
                                 [&](const Attribute& each) { return each.key == key; });
  const bool is_new = same == attributes_.end();
  if (is_new && attributes_.size() == wire::kMaxAttributes) {
    ++left_out_;
    return;
  }
  const std::size_t around = key.size() + kAround;
  if (!change_room(is_new ? 0 : around + same->text.size(), around + text.size())) return;
  try {
    Attribute made{std::string(key), std::string(text), number};
    if (is_new)
      attributes_.push_back(std::move(made));
    else
      *same = std::move(made);
  } catch (const std::exception&) {
    ++left_out_;
  }
}

void SpanNotes::add_link(const wire::SpanLink& link) {
  if (links_.size() == wire::kMaxLinks) {
    ++left_out_;
    return;
  }
  if (!change_room(0, sizeof link)) return;
  try {
    links_.push_back(link);
  } catch (const std::exception&) {
    ++left_out_;
  }
}

void SpanNotes::set_reason(std::string_view reason) {
  if (!change_room(reason_.size(), reason.size())) return;
  try {
    reason_ = reason;
  } catch (const std::exception&) {
    ++left_out_;
  }
}

void SpanNotes::fill(wire::Span& span) {
  views_.clear();
  for (const Attribute& each : attributes_) views_.push_back({each.key, each.text, each.number});
  span.attributes = views_;
  span.links = links_;
  span.reason = reason_;
  span.left_out = left_out_;
}

std::unique_ptr<SpanNotes> take_or_make_notes(std::uint32_t entry, Moment begun) {
  NotesSlot* const slot = all_notes.find_or_make(entry);
  if (slot == nullptr) return nullptr;
  const ErrnoStays errno_stays;
  if (auto there = take_notes(entry, begun)) return there;
  return std::unique_ptr<SpanNotes>(new (std::nothrow) SpanNotes(begun));
}

// Anything that is there is of an earlier transaction, or of a copy.
void put_back_notes(std::uint32_t entry, std::unique_ptr<SpanNotes> notes) {
  NotesSlot& slot = *all_notes.find(entry);
  const ErrnoStays errno_stays;
  slot.begun.store(notes->begun(), std::memory_order_relaxed);
  delete slot.notes.exchange(notes.release(), std::memory_order_acq_rel);
}

void note_sent(std::uint32_t entry, Moment begun) {
  note_came_in();
  if (NotesSlot* const slot = all_notes.find_or_make(entry))
    slot->sent.store(begun, std::memory_order_relaxed);
}

bool is_sent(std::uint32_t entry, Moment begun) {
  const NotesSlot* const slot = all_notes.find(entry);
  return slot != nullptr && slot->sent.load(std::memory_order_relaxed) == begun;
}

void note_came_in() {
  if (!do_traces_cross()) traces_cross.store(true, std::memory_order_relaxed);
}

bool do_traces_cross() { return traces_cross.load(std::memory_order_relaxed); }

// The number keeps ends of old copies away. The thread that takes the notes owns them.
std::unique_ptr<SpanNotes> take_notes(std::uint32_t entry, Moment begun) {
  NotesSlot* const slot = all_notes.find(entry);
  if (slot == nullptr || slot->begun.load(std::memory_order_relaxed) != begun) return nullptr;
  std::unique_ptr<SpanNotes> notes(slot->notes.exchange(nullptr, std::memory_order_acq_rel));
  return notes != nullptr && notes->begun() == begun ? std::move(notes) : nullptr;
}

}  // namespace pcp::trace::client
