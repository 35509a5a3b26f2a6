// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/scarce_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

namespace {

constexpr std::size_t kPlenty = std::numeric_limits<std::size_t>::max();

std::atomic<std::size_t> refused_from{kPlenty};
std::atomic<std::size_t> interrupted_from{kPlenty};
const std::function<void()>* meanwhile = nullptr;

void* allocate(std::size_t bytes) {
  if (bytes >= interrupted_from) {
    interrupted_from = kPlenty;
    (*meanwhile)();
  }
  void* const memory = bytes < refused_from ? std::malloc(bytes) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace pcp::trace {

ScarceMemory::ScarceMemory(std::size_t bytes) { refused_from = bytes; }
ScarceMemory::~ScarceMemory() { refused_from = kPlenty; }

DuringAllocation::DuringAllocation(std::size_t bytes, std::function<void()> meanwhile)
    : meanwhile_(std::move(meanwhile)) {
  ::meanwhile = &meanwhile_;
  interrupted_from = bytes;
}
DuringAllocation::~DuringAllocation() { interrupted_from = kPlenty; }

}  // namespace pcp::trace
