// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the tags of several hosts regularly, or of an archive at its pace. Each has its own thread,
// because PCP's library may wait long for a silent host. The threads are never joined, so they
// share ownership of their data.
//
// Thread: the main one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/top/recent_tags.hpp"
#include "command/top/tag_detail.hpp"
#include "command/top/top_options.hpp"

namespace pcp::trace::command {

class TagFeed {
 public:
  explicit TagFeed(const TopOptions& options);
  ~TagFeed();  // ends the threads as soon as they can
  TagFeed(const TagFeed&) = delete;
  TagFeed& operator=(const TagFeed&) = delete;

  // Readable when there may be something to take.
  int descriptor() const;

  // Gives the tags once all hosts that answer have been read anew. An archive waits for it.
  std::optional<Recent> take();

  // Sets the tag that details are of.
  void open(const std::optional<TagKey>& key);
  std::vector<TagDetail> details();

  // A sentence for each host that gives no values now.
  std::vector<std::string> troubles();

  bool has_worked();  // at least one host has given values

  // True if all that can come has been taken: the archive is at its end, or no host has ever given
  // values, and each has said why.
  bool is_over();

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace pcp::trace::command
