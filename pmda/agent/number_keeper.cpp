// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/number_keeper.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace pcp::trace::agent {

namespace {

// After a save that took a time, this many times as long goes by before the next.
constexpr int kRest = 50;
constexpr Time kLongestRest = std::chrono::minutes(5);

// After one that failed, at least so long.
constexpr Time kRestAfterFailure = std::chrono::seconds(30);

}  // namespace

NumberKeeper::NumberKeeper(InstanceFile file, Reader reader, Warn warn, Time (*clock)())
    : file_(std::move(file)),
      reader_(reader),
      warn_(warn),
      clock_(clock),
      saved_(reader.numbers().size()) {}

Time NumberKeeper::save_new() {
  if (!has_unsaved()) return kNever;
  const Time begin = clock_();
  if (begin < next_save_) return next_save_;
  save();
  const Time end = clock_();
  next_save_ =
      end + std::clamp((end - begin) * kRest, unsaved_ ? kRestAfterFailure : Time{0}, kLongestRest);
  return unsaved_ ? next_save_ : kNever;
}

bool NumberKeeper::has_unsaved() {
  // Mostly nothing is new, and then the other threads need not be disturbed.
  const std::uint64_t changes = reader_.changes();
  if (std::exchange(changes_, changes) == changes || unsaved_) return unsaved_;
  unsaved_ = reader_.has_numbers_beyond(saved_);
  return unsaved_;
}

void NumberKeeper::save() {
  const Result<void> saved = write();
  unsaved_ = !saved;
  if (!std::exchange(warned_, unsaved_) && !saved)
    warn_(saved.error().message + "; will be tried again now and then");
}

Result<void> NumberKeeper::write() {
  try {
    const std::vector<KnownInstance> numbers = reader_.numbers();
    Result<void> saved = file_.save(numbers);
    if (saved) saved_ = numbers.size();
    return saved;
  } catch (const std::bad_alloc&) {
    return Error{"no memory to save the instance numbers"};
  }
}

}  // namespace pcp::trace::agent
