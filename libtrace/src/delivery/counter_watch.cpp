// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/counter_watch.hpp"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <string>

#include "delivery/diagnostics.hpp"

namespace pcp::trace::client {

void CounterWatch::look_at(const Record& record, const Recorder& recorder) noexcept {
  const Tag& tag = *record.tag();
  if (tag.stands_for_others.load(std::memory_order_relaxed)) return;  // values of many counters
  Last& last = last_[tag.id];
  const bool is_down = last.recorder == &recorder && record.value < last.value;
  // A counter of an event that never happens stays 0; nobody means "add 0" by that.
  last.times = record.value == last.value && record.value != 0 ? last.times + 1 : 1;
  last.value = record.value;
  last.recorder = &recorder;
  if (is_down && !recorder.has_changed_hands())
    end_with(tag, "goes down");
  else if (last.times == kEqualValues)
    end_with(tag, "has had the same value 1000 times");
  else if (--values_left_ == 0)
    std::vector<Last>().swap(last_);
}

void CounterWatch::end_with(const Tag& tag, const char* what) noexcept {
  values_left_ = 0;
  std::vector<Last>().swap(last_);
  static std::atomic<pid_t> who_said{0};  // this process or an ancestor
  const pid_t said = who_said.exchange(::getpid(), std::memory_order_relaxed);
  if (said != 0 && said != ::getpid()) return;
  try {
    complain("the counter \"" + std::string(name_of(tag)) + "\" " + what +
             ". pmtrace_count() and pmtracecounter() take its value so far;"
             " to add to it, call pmtrace_add() (C++ and Java: add; pmtrace: -a).");
  } catch (const std::exception&) {
  }
}

}  // namespace pcp::trace::client
