// SPDX-License-Identifier: LGPL-2.1-or-later
// Which instances of an answer show what their programs say of them, or of themselves. All of that
// may take so many bytes and no more, or a few programs could make an answer that takes pmcd
// seconds. The bytes are shared out equally to the users whose programs they are, a user's to the
// processes, and a process's to its sessions; who wants less than an equal part leaves the rest to
// others. So nobody's labels go because of another one's.
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
  // 100,000 tags may have 160 bytes each.
  static constexpr std::size_t kMaxBytes = 16u << 20;

  explicit LabelBudget(std::size_t bytes = kMaxBytes) : bytes_(bytes) {}

  // Requires: `origin` lives as long as this.
  void want(const Origin& origin, std::size_t bytes);
  void share_out();

  // False if an instance of this origin has to do without.
  bool takes(const Origin& origin, std::size_t bytes);

  std::size_t left_out() const { return left_out_; }  // instances
  std::size_t left() const { return bytes_ - taken_; }

 private:
  struct Share {
    std::size_t wanted = 0;  // bytes
    std::size_t left = 0;    // of those that it gets
    std::size_t unit = 1;    // what it can make use of is about a multiple of this
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
