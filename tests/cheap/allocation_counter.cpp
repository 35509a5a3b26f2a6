// SPDX-License-Identifier: LGPL-2.1-or-later
#include "allocation_counter.hpp"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
}

namespace {

constinit thread_local std::uint64_t calls = 0;
constinit std::atomic<std::uint64_t> bytes_in_use{0};

void* counted(void* memory) {
  ++calls;
  if (memory != nullptr)
    bytes_in_use.fetch_add(::malloc_usable_size(memory), std::memory_order_relaxed);
  return memory;
}

void forget(void* memory) {
  if (memory != nullptr)
    bytes_in_use.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
}

}  // namespace

// operator new and delete of the C++ library call these, too.
extern "C" {
void* malloc(std::size_t bytes) { return counted(__libc_malloc(bytes)); }
void* calloc(std::size_t count, std::size_t bytes) { return counted(__libc_calloc(count, bytes)); }
void* realloc(void* memory, std::size_t bytes) {
  forget(memory);
  return counted(__libc_realloc(memory, bytes));
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return counted(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory != nullptr ? 0 : ENOMEM;
}
void free(void* memory) {
  ++calls;
  forget(memory);
  __libc_free(memory);
}
}

namespace pcp::trace {

std::uint64_t heap_calls() { return calls; }
std::uint64_t heap_bytes() { return bytes_in_use.load(std::memory_order_relaxed); }

}  // namespace pcp::trace
