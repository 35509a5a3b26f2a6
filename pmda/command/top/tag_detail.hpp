// SPDX-License-Identifier: LGPL-2.1-or-later
// More about one tag, asked for while the user looks at it.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "command/run/model.hpp"
#include "command/run/run_pieces.hpp"
#include "command/run/trace_assembly.hpp"
#include "command/show/shown.hpp"
#include "command/spans/span_feed.hpp"

namespace pcp::trace::command {

// The answer of a host or an archive.
struct TagDetail {
  std::string host{};
  std::string labels{};     // in JSON
  double oldest_s = 0;      // of the open transactions; 0: none
  std::string where{};      // the oldest one is
  std::string histogram{};  // of all its values since some time, as text
};

// All lines about a tag, without its spans. `tag`: null if it has no values now.
std::vector<std::string> detail_lines(const TagKey& key, const Tag* tag,
                                      const std::vector<TagDetail>& details, const Shown& shown);

// The slow transactions of a tag, captured as long as this exists.
class SlowSpans {
 public:
  // A transaction is slow if it takes at least so long.
  SlowSpans(const std::vector<std::string>& hosts, const std::string& tag, double slower_s);

  // Takes the news. Gives lines.
  std::vector<std::string> lines(const Shown& shown);

 private:
  const std::vector<std::string>& hosts_;
  const std::string tag_;
  const std::string filter_;
  SpanFeed feed_;
  TraceAssembly assembly_;
  std::deque<SpanTrace> traces_;  // the latest first
  std::vector<std::string> told_;
};

}  // namespace pcp::trace::command
