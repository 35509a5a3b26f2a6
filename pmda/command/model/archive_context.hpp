// SPDX-License-Identifier: LGPL-2.1-or-later
// Owns a context of PCP's library.
#pragma once

#include <memory>
#include <utility>

#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

class ArchiveContext {
 public:
  explicit ArchiveContext(int number) : number_(number) {}
  ArchiveContext(ArchiveContext&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ArchiveContext& operator=(ArchiveContext&&) = delete;
  ~ArchiveContext() {
    if (number_ >= 0) pmDestroyContext(number_);
  }

  int number() const { return number_; }

 private:
  int number_;
};

struct FreeArchiveResult {
  void operator()(pmapi::ArchiveResult* result) const { pmapi::free_archive_result(result); }
};
using OwnedArchiveResult = std::unique_ptr<pmapi::ArchiveResult, FreeArchiveResult>;

}  // namespace pcp::trace::command
