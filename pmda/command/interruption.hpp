// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits for ^C and the other signals that ask a program to end, and for work that takes long.
//
// Thread: the main one. Only one at a time, made before other threads.
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "base/descriptor.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::command {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Sets a time that also counts as an interruption.
  void come_at(Instant end) { end_ = end; }

  // Waits until a time, the interruption, or a readable input; not at all after the interruption.
  // True if the interruption has come.
  bool comes_before(Instant until, std::initializer_list<int> inputs = {});

  bool has_come() const { return has_come_; }

  // Runs work on a thread of its own, and returns its result. Nothing if the work has not ended one
  // second after the interruption; it then continues, so it may use only its own data.
  template <typename Work>
  auto result_of(Work work) {
    const auto result = std::make_shared<std::optional<decltype(work())>>();
    using Wanted = std::optional<decltype(work())>;
    const bool has_ended =
        ends([result, work = std::move(work)]() mutable { result->emplace(work()); });
    return has_ended ? std::move(*result) : Wanted();
  }

 private:
  bool ends(std::function<void()> work);

  sigset_t blocked_before_{};
  Descriptor signals_;  // a signalfd
  Instant end_ = Instant::max();
  bool has_come_ = false;
};

}  // namespace pcp::trace::command
