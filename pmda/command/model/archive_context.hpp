// SPDX-License-Identifier: LGPL-2.1-or-later
// Owns a context of PCP's library.
#pragma once

#include <pcp/pmapi.h>

#include <memory>
#include <utility>

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

struct FreeHighResResult {
  void operator()(pmHighResResult* result) const { pmFreeHighResResult(result); }
};
using OwnedHighResResult = std::unique_ptr<pmHighResResult, FreeHighResResult>;

}  // namespace pcp::trace::command
