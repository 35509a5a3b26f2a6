// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes bytes apart from the front. If too few bytes are left, this and all later calls fail.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace pcp::trace::command {

class BytePieces {
 public:
  explicit BytePieces(std::string_view bytes) : rest_(bytes) {}

  // True if nothing is left.
  bool empty() const { return rest_.empty(); }
  bool has_failed() const { return has_failed_; }

  std::string_view take(std::size_t size) {
    has_failed_ |= size > rest_.size();
    if (has_failed_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  // Takes a structure, or `size` bytes at its beginning. Zeros if there are too few bytes.
  template <typename Head>
  Head take_head(std::size_t size = sizeof(Head)) {
    Head head{};
    const std::string_view taken = take(size);
    if (!taken.empty()) std::memcpy(static_cast<void*>(&head), taken.data(), taken.size());
    return head;
  }

  // The same, without taking it.
  template <typename Head>
  Head head() const {
    return BytePieces(*this).take_head<Head>();
  }

 private:
  std::string_view rest_;
  bool has_failed_ = false;
};

}  // namespace pcp::trace::command
