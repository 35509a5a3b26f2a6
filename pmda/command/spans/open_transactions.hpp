// SPDX-License-Identifier: LGPL-2.1-or-later
// The open transactions on hosts now: begun and not ended.
#pragma once

#include <string>
#include <vector>

#include "command/interruption.hpp"
#include "command/show/shown.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

// The open transactions of a tag on a host.
struct OpenTransaction {
  std::string host;
  std::string tag;
  double count = 0;
  double oldest_s = 0;
  std::string where;  // process and thread of the oldest
};

struct OpenTransactions {
  std::vector<OpenTransaction> tags;  // the oldest first
  std::vector<std::string> troubles;  // hosts without an answer, and why
  double others = 0;                  // open transactions of other tags
};

// Those of the tags in the profile of PCP's current context, which is of this host.
std::vector<OpenTransaction> open_transactions_of(const std::string& host);

// Asks the hosts for tags that match the filter.
OpenTransactions read_open_transactions(const std::vector<std::string>& hosts,
                                        const wire::CaptureFilter& filter,
                                        Interruption& interruption);

std::string open_table(const OpenTransactions& open, const Shown& shown);
std::string open_json(const OpenTransactions& open);

}  // namespace pcp::trace::command
