// SPDX-License-Identifier: LGPL-2.1-or-later
// A run in pieces of time, thinned so that a comparison of many archives needs little memory: about
// a megabyte for each. A comparison estimates the noise of a run from them.
//
// Thread: one.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "command/run/model.hpp"

namespace pcp::trace::command {

using TagKey = std::pair<TraceType, std::string>;

struct RunPiece {
  WallTime end{};
  double calls = 0;
  double failed = 0;  // of these
  double sum = 0;     // of the calls whose times are wanted
};

struct TagPieces {
  std::vector<RunPiece> pieces;  // with calls
  std::vector<TimedHistogram> histograms;
};

class RunPieces {
 public:
  // Adds an archive, with its series. Archives may cover the same time, or follow each other.
  void add(const Model& archive);

  // Puts all pieces into the order of time. Nothing may be added afterwards.
  void finish();

  // Null: not among the tags with the most total time.
  const TagPieces* find(TraceType type, const std::string& name) const;

 private:
  std::map<TagKey, TagPieces> tags_;
};

}  // namespace pcp::trace::command
