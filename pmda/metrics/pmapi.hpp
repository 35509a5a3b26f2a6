// SPDX-License-Identifier: LGPL-2.1-or-later
// PCP's library, with one name for each thing that its versions 6 and 7 call differently. Each file
// that needs PCP includes this one: no other file of ours depends on the version.
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#ifndef PMAPI_VERSION_4
// From pcp/deprecated.h, which gives other names another meaning.
extern "C" int pmDebug;  // NOLINT(readability-identifier-naming): PCP's name
#endif

namespace pcp::trace::pmapi {

#ifdef PMAPI_VERSION_4
// PCP 7: monitors get nanoseconds by the plain names; an agent still answers with microseconds.
// Debug options have names.
using AgentResult = pmdaResult;
using ArchiveResult = pmResult;
using ArchiveLabelRead = pmLogLabel;
inline constexpr auto& fetch_archive = pmFetchArchive;
inline constexpr auto& free_archive_result = pmFreeResult;
inline constexpr auto& get_archive_label = pmGetArchiveLabel;
inline constexpr auto& get_archive_end = pmGetArchiveEnd;
inline constexpr auto& set_archive_mode = pmSetMode;
inline constexpr auto& parse_interval = pmParseInterval;
inline constexpr auto& parse_time_window = pmParseTimeWindow;
inline std::string debug_options() {
  const std::unique_ptr<char, void (*)(void*)> names(pmGetDebug(), std::free);
  return names ? names.get() : "";
}
#else
// PCP 6: nanoseconds have names of their own. Debug options are bits, too.
using AgentResult = pmResult;
using ArchiveResult = pmHighResResult;
using ArchiveLabelRead = pmHighResLogLabel;
inline constexpr auto& fetch_archive = pmFetchHighResArchive;
inline constexpr auto& free_archive_result = pmFreeHighResResult;
inline constexpr auto& get_archive_label = pmGetHighResArchiveLabel;
inline constexpr auto& get_archive_end = pmGetHighResArchiveEnd;
inline constexpr auto& set_archive_mode = pmSetModeHighRes;
inline constexpr auto& parse_interval = pmParseHighResInterval;
inline constexpr auto& parse_time_window = pmParseHighResTimeWindow;
inline std::int32_t debug_options() { return pmDebug; }
#endif

// The dimensions of a unit, then their scales. PCP 7's macro for it is C, and the order of the
// members differs between versions and processors. Requires: each number fits into four bits, which
// the compiler cannot know.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
constexpr pmUnits units(int space, int time, int count, unsigned space_scale, unsigned time_scale,
                        int count_scale) {
  pmUnits made{};
  made.dimSpace = space;
  made.dimTime = time;
  made.dimCount = count;
  made.scaleSpace = space_scale;
  made.scaleTime = time_scale;
  made.scaleCount = count_scale;
  return made;
}
#pragma GCC diagnostic pop

// Zeroed memory that PCP will free().
template <typename Value>
Value* allocate(std::size_t count) {
  void* const memory = std::calloc(std::max<std::size_t>(count, 1), sizeof(Value));
  if (!memory) throw std::bad_alloc();
  return static_cast<Value*>(memory);
}

}  // namespace pcp::trace::pmapi
