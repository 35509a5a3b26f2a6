// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/number_keeper.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace pcp::trace::agent {

namespace {

// The pause after a save is this many times as long as the save took.
constexpr int kRest = 50;
constexpr Duration kLongestRest = std::chrono::minutes(5);

// The shortest pause after a save that failed.
constexpr Duration kRestAfterFailure = std::chrono::seconds(30);

// The least count of numbers reserved for each type.
constexpr std::int32_t kReserve = 1000;

}  // namespace

NumberKeeper::NumberKeeper(InstanceFile file, Reader reader, Warn warn, Instant (*clock)())
    : file_(std::move(file)),
      reader_(reader),
      warn_(warn),
      clock_(clock),
      first_(reader.highest_numbers()),
      highest_(first_),
      saved_(first_) {}

Instant NumberKeeper::save_new() {
  if (!has_unsaved()) return kNever;
  const Instant begin = clock_();
  const bool urgent = !warned_ && is_reserve_low();
  if (begin < next_save_ && !urgent) return next_save_;
  save(reserve());
  const Instant end = clock_();
  next_save_ = end + std::clamp((end - begin) * kRest, unsaved_ ? kRestAfterFailure : Duration{0},
                                kLongestRest);
  return unsaved_ ? next_save_ : kNever;
}

void NumberKeeper::save_at_end() {
  highest_ = reader_.highest_numbers();
  save(highest_);
}

bool NumberKeeper::has_unsaved() {
  // Usually nothing is new, and highest_numbers() need not take the mutex.
  const std::uint64_t changes = reader_.changes();
  if (std::exchange(changes_, changes) != changes) {
    highest_ = reader_.highest_numbers();
    unsaved_ = unsaved_ || highest_ != saved_;
  }
  return unsaved_;
}

bool NumberKeeper::is_reserve_low() const {
  for (std::size_t i = 0; i < highest_.size(); ++i) {
    if (highest_[i] > reserved_[i] - kReserve / 2) return true;
  }
  return false;
}

// Reserves as many again as were given: many given numbers mean many more to come.
Numbers NumberKeeper::reserve() const {
  Numbers reserved = highest_;
  for (std::size_t i = 0; i < reserved.size(); ++i) {
    const std::int32_t more = std::max(kReserve, highest_[i] - first_[i]);
    reserved[i] +=
        std::min(more, InstanceFile::kMaxNumber - std::min(reserved[i], InstanceFile::kMaxNumber));
  }
  return reserved;
}

void NumberKeeper::save(const Numbers& reserved) {
  const Numbers highest = highest_;  // copied before write(), which may save newer ones
  const Result<void> saved = write(reserved);
  unsaved_ = !saved;
  if (saved) {
    saved_ = highest;
    reserved_ = reserved;
  }
  if (!std::exchange(warned_, unsaved_) && !saved)
    warn_(saved.error().message + "; the agent will try again");
}

Result<void> NumberKeeper::write(const Numbers& reserved) {
  try {
    return file_.save(reader_.numbers(), reserved);
  } catch (const std::bad_alloc&) {
    return Error{"no memory to save the instance numbers"};
  }
}

}  // namespace pcp::trace::agent
