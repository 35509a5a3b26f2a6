// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads archives in a child process: for some damaged archives PCP's library crashes, loops
// forever, or allocates memory without limit.
//
// Thread: the only one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

// Runs `work` in a child, with limits, and returns its status. If the child does not finish, or an
// exception ends it: says so on standard error, as `pcp-trace word`, and returns `failed`. Only an
// archive that was open is called damaged. A signal meant for the user's command (e.g. SIGINT) that
// ended the child also ends this process.
int guarded(const char* word, int failed, const std::function<int()>& work);

// Owns a context of PCP's library.
class ArchiveContext {
 public:
  // `folder`: where its files are, if its name needs it.
  explicit ArchiveContext(int number, Descriptor folder = Descriptor())
      : number_(number), folder_(std::move(folder)) {}
  ArchiveContext(ArchiveContext&& other) noexcept
      : number_(std::exchange(other.number_, -1)), folder_(std::move(other.folder_)) {}
  ArchiveContext& operator=(ArchiveContext&&) = delete;
  ~ArchiveContext();

  int number() const { return number_; }

  // Goes to the first record. A context gives the labels of its present time: read them before.
  // Returns PCP's status.
  int rewind() const {
    const timespec begin{};
    return pmapi::set_archive_mode(PM_MODE_FORW, &begin, nullptr);
  }

 private:
  int number_;
  Descriptor folder_;
};

struct FreeArchiveResult {
  void operator()(pmapi::ArchiveResult* result) const { pmapi::free_archive_result(result); }
};
using OwnedArchiveResult = std::unique_ptr<pmapi::ArchiveResult, FreeArchiveResult>;

// Opens an archive. Its size raises the limits.
Result<ArchiveContext> open_archive(const std::string& path);

}  // namespace pcp::trace::command
