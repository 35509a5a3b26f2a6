// SPDX-License-Identifier: LGPL-2.1-or-later
// Records for a Pending, as if a queue had handed them over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "counts/pending.hpp"

namespace pcp::trace::client {

inline void add_records(Pending& pending, std::span<const Record> records, std::uint64_t now_ns) {
  pending.make_room(records.size());
  std::vector<Pending::Fetched> fetched;
  for (const Record& record : records) fetched.push_back(pending.fetch(record));
  pending.add(fetched, now_ns);
}

}  // namespace pcp::trace::client
