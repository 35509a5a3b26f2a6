// SPDX-License-Identifier: LGPL-2.1-or-later
// What is in flight on hosts now: transactions that have begun and not ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/record/interruption.hpp"
#include "command/report/shown.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

// Of a tag on a host.
struct OpenTransaction {
  std::string host;
  std::string tag;
  double count = 0;
  double oldest_s = 0;
  std::string where;  // the oldest is: process and thread
};

struct OpenTransactions {
  std::vector<OpenTransaction> tags;  // with the oldest first
  std::vector<std::string> troubles;  // hosts of which nothing is known, and why
  double others = 0;                  // open transactions of tags that do not match
};

// Asks for tags that the filter matches.
OpenTransactions read_open_transactions(const std::vector<std::string>& hosts,
                                        const wire::CaptureFilter& filter,
                                        Interruption& interruption);

std::string open_table(const OpenTransactions& open, const Shown& shown);
std::string open_json(const OpenTransactions& open);

}  // namespace pcp::trace::command
