// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which instances of an answer show their program's labels. Labels are limited in total:
// otherwise a few programs could make an answer that takes pmcd seconds. The bytes are divided
// equally among users, a user's part among processes, and a process's part among its sessions.
// Unused room goes to the others. So no program's labels can displace another's.
//
// Use: want() for each instance, share_out(), then takes() for each instance.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

class LabelBudget {
 public:
  // Room for 160 bytes for each of 100,000 tags.
  static constexpr std::size_t kMaxBytes = 16u << 20;

  explicit LabelBudget(std::size_t bytes = kMaxBytes) : bytes_(bytes) {}

  // Requires: `origin` outlives this object.
  void want(const Origin& origin, std::size_t bytes);
  void share_out();

  // False if there is no room for an instance of this origin.
  bool takes(const Origin& origin, std::size_t bytes);

  std::size_t left_out() const { return left_out_; }  // instances
  std::size_t left() const { return bytes_ - taken_; }

 private:
  struct Share {
    std::size_t wanted = 0;  // bytes
    std::size_t left = 0;    // remaining bytes of its part
    std::size_t unit = 1;    // size of its largest instance; parts are rounded down to multiples
  };
  struct Group {
    Share share;
    std::vector<Share*> members;

    void add(Share& member);
  };
  static void divide(std::size_t bytes, std::vector<Share*> among);

  std::size_t bytes_;
  std::unordered_map<const Origin*, Share> sessions_;
  std::size_t taken_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace pcp::trace::agent
