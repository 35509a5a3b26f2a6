// SPDX-License-Identifier: LGPL-2.1-or-later
// The process's black box: its memory of captured spans. The agent gets a descriptor of this memory
// (wire/black_box.hpp has the layout). Made with the first set of captures.
//
// Where there can be no such file, the same memory is the process's own, and nobody else reads it.
// A forked child does not have the memory, and makes its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "platform/own_descriptor.hpp"
#include "tags/tag_registry.hpp"
#include "wire/black_box.hpp"

namespace pcp::trace::client {

class BlackBox {
 public:
  BlackBox() = default;
  BlackBox(const BlackBox&) = delete;
  BlackBox& operator=(const BlackBox&) = delete;

  // Makes the file, once. Thread: the one that publishes captures, before it does, also below.
  void make(std::size_t ring_bytes);

  // A set of this epoch is going to be published, or has got its CONTROL.
  void note_set(std::uint32_t epoch, std::uint64_t control);
  void forget_sets();
  void note_clock(std::int64_t wall_minus_monotonic);

  // Counters of what this capture misses, all 0: in the box while anybody has them, or elsewhere if
  // it has no room. Throws if there is no memory.
  std::shared_ptr<wire::box::Missed> make_missed(std::uint64_t capture);

  // The process ends in order: it has not died with what is open. Thread: any.
  static void note_end();

  // Memory of zeros at this place of the layout; null: none. Once for each place. Thread: any that
  // knows a set of captures, also below.
  void* map(std::size_t at, std::size_t bytes);

  // Gives back what is not needed now; it reads as zeros. Only whole pages of it.
  void give_back(void* memory, std::size_t bytes) const;

  // A span may have this tag.
  void note_tag(const Tag& tag);

  // For reading only: an agent must not write into the program. Closed in a forked child. The
  // program may close it, too: then later agents get no box.
  OwnDescriptor& descriptor() { return descriptor_; }

 private:
  wire::box::Head* head() const { return reinterpret_cast<wire::box::Head*>(memory_); }

  bool is_made_ = false;
  char* memory_ = nullptr;  // null: no file
  OwnDescriptor descriptor_;
};

}  // namespace pcp::trace::client
