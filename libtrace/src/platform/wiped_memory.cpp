// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platform/wiped_memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "platform/forks.hpp"

// Present with the leak sanitizer, which does not search mapped memory by itself.
extern "C" [[gnu::weak]] void __lsan_register_root_region(const void* memory, std::size_t bytes);

namespace pcp::trace::client {
namespace {

// Kernels before 4.14, some sandboxes and emulators do not wipe. Then the child wipes it, unless
// made without the C library's fork().
struct WipedPiece {
  WipedPiece* next;
  std::size_t bytes;
};
// A list that only grows. Released by wipe_by_hand(), acquired by wipe_all().
std::atomic<WipedPiece*> pieces{nullptr};

void wipe_all() {
  WipedPiece* piece = pieces.load(std::memory_order_acquire);  // all of them, in each child
  while (piece != nullptr) {
    WipedPiece* next = piece->next;
    std::memset(static_cast<void*>(piece + 1), 0, piece->bytes - sizeof(WipedPiece));
    piece = next;
  }
}

void wipe_by_hand(void* memory, std::size_t bytes) {
  static std::atomic_flag registered = ATOMIC_FLAG_INIT;
  if (!registered.test_and_set()) call_at_forks(nullptr, nullptr, wipe_all);
  WipedPiece* piece = static_cast<WipedPiece*>(memory);
  piece->bytes = bytes;
  piece->next = pieces.load(std::memory_order_relaxed);
  while (!pieces.compare_exchange_weak(piece->next, piece, std::memory_order_release)) {
  }
}

}  // namespace

void search_for_leaks_from(const void* memory, std::size_t bytes) {
  if (__lsan_register_root_region != nullptr) __lsan_register_root_region(memory, bytes);
}

void* allocate_wiped_memory(std::size_t bytes) {
  constexpr std::size_t kHeader = 64;  // keeps the alignment of what follows
  static_assert(sizeof(WipedPiece) <= kHeader);
  bytes += kHeader;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  search_for_leaks_from(memory, bytes);
  // Older emulators, such as qemu 7, take any advice and follow none.
  constexpr int kNoAdvice = -1;
  if (::madvise(memory, bytes, kNoAdvice) == 0 || ::madvise(memory, bytes, MADV_WIPEONFORK) != 0)
    wipe_by_hand(memory, bytes);
  return static_cast<char*>(memory) + kHeader;
}

}  // namespace pcp::trace::client
