// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/black_box.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "pcp/trace.h"
#include "platform/diagnostics.hpp"
#include "platform/forks.hpp"
#include "platform/guards.hpp"
#include "platform/wiped_memory.hpp"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace pcp::trace::client {
namespace {

using namespace wire::box;

// The last box, for a forked child.
std::atomic<char*> mapped{nullptr};  // released by map_file(), acquired by a child and an end
std::atomic<std::size_t> mapped_bytes{0};

// A fork in a signal handler may have interrupted a call: it goes on in the child, without effect.
void map_zeros() {
  char* const memory = mapped.exchange(nullptr, std::memory_order_acquire);
  if (memory == nullptr) return;
  [[maybe_unused]] const void* const zeros =
      ::mmap(memory, mapped_bytes.load(std::memory_order_relaxed), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

int make_memfd() {
  const int fd = ::memfd_create("pcp-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (fd >= 0 || errno != EINVAL) return fd;
  return ::memfd_create("pcp-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);  // before Linux 6.3
}

// Nobody else may open the file for writing, whoever has a descriptor.
bool set_size(const OwnDescriptor& file, std::size_t bytes) {
  rlimit most{};
  return ::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur >= bytes && file.is_ours() &&
         ::fchmod(file.number(), S_IRUSR) == 0 &&
         ::ftruncate(file.number(), static_cast<off_t>(bytes)) == 0 &&
         ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

// Pages come when they are written, also in a program that locks its memory: so the memory is
// unlocked before it can be read. Not in a core dump, nor in a forked child.
char* map_file(int fd, std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return nullptr;
  constexpr int kNoAdvice = -1;  // some emulators take any advice, and follow none
  ::munlock(memory, bytes);
  ::madvise(memory, bytes, MADV_DONTDUMP);
  if (::madvise(memory, bytes, kNoAdvice) == 0 || ::madvise(memory, bytes, MADV_DONTFORK) != 0 ||
      ::mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(memory, bytes);
    return nullptr;
  }
  static std::atomic_flag registered = ATOMIC_FLAG_INIT;
  if (!registered.test_and_set()) call_at_forks(nullptr, nullptr, map_zeros);
  mapped_bytes.store(bytes, std::memory_order_relaxed);
  mapped.store(static_cast<char*>(memory), std::memory_order_release);
  return static_cast<char*>(memory);
}

}  // namespace

void BlackBox::make(std::size_t ring_bytes) {
  if (std::exchange(is_made_, true)) return;
  const ErrnoStays errno_stays;
  const std::size_t bytes = file_bytes(paged(ring_bytes));
  OwnDescriptor file;
  if (file.take(make_memfd()) && set_size(file, bytes)) memory_ = map_file(file.number(), bytes);
  if (memory_ != nullptr) {
    const std::string again = "/proc/self/fd/" + std::to_string(file.number());
    descriptor_.take(::open(again.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor_.is_same_file(file)) descriptor_.close();
  }
  if (descriptor_.number() < 0)
    diagnose(PMTRACE_STATE_COMMS, [] { return "no black box: its memory cannot be made"; });
  if (memory_ == nullptr) return;
  search_for_leaks_from(memory_ + kNodesAt, kNodesBytes);
  head()->layout = kLayout;
  head()->ring_bytes = paged(ring_bytes);
}

void BlackBox::note_end() {
  if (char* const memory = mapped.load(std::memory_order_acquire); memory != nullptr)
    reinterpret_cast<Head*>(memory)->is_ending.store(1, std::memory_order_relaxed);
}

void* BlackBox::map(std::size_t at, std::size_t bytes) {
  return memory_ != nullptr ? memory_ + at : allocate_wiped_memory(bytes);
}

void BlackBox::give_back(void* memory, std::size_t bytes) const {
  const auto first = paged(reinterpret_cast<std::uintptr_t>(memory));
  const auto last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / kPage * kPage;
  if (first >= last) return;
  const ErrnoStays errno_stays;
  ::madvise(reinterpret_cast<void*>(first), last - first,
            memory_ != nullptr ? MADV_REMOVE : MADV_DONTNEED);
}

void BlackBox::note_set(std::uint32_t epoch, std::uint64_t control) {
  if (memory_ == nullptr) return;
  Set& set = head()->sets[epoch % Head::kSets];
  set.control.store(0, std::memory_order_release);
  set.epoch.store(epoch, std::memory_order_release);
  set.control.store(control, std::memory_order_release);
}

void BlackBox::forget_sets() {
  if (memory_ == nullptr) return;
  for (Set& set : head()->sets) set.control.store(0, std::memory_order_release);
}

void BlackBox::note_clock(std::int64_t wall_minus_monotonic) {
  if (memory_ != nullptr)
    head()->wall_minus_monotonic.store(wall_minus_monotonic, std::memory_order_release);
}

std::shared_ptr<Missed> BlackBox::make_missed(std::uint64_t capture) {
  Missed* place = nullptr;
  if (memory_ != nullptr)
    for (Missed& each : head()->missed)
      if (each.capture.load(std::memory_order_acquire) == 0) place = &each;
  std::shared_ptr<Missed> made =
      place != nullptr
          ? std::shared_ptr<Missed>(place, [](Missed* each) { each->capture.store(0); })
          : std::make_shared<Missed>();
  for (Word<std::uint64_t>* const count : {&made->full, &made->limit, &made->waiting, &made->away})
    count->store(0, std::memory_order_relaxed);
  made->capture.store(capture, std::memory_order_release);
  return made;
}

// Two threads may do the same: then the text is there twice.
void BlackBox::note_tag(const Tag& tag) {
  static_assert(kMostTags == kMaxTags);
  if (memory_ == nullptr || tag.id >= kMostTags) return;
  wire::box::Tag& known = head()->tags[tag.id];
  const auto address = reinterpret_cast<std::uint64_t>(&tag);
  if (known.address.load(std::memory_order_relaxed) == address) return;
  const std::uint32_t at = head()->tag_text_bytes.load(std::memory_order_relaxed) <= kMostTagText
                               ? head()->tag_text_bytes.fetch_add(tag.length)
                               : kMostTagText;
  if (at > kMostTagText - tag.length) return;
  std::memcpy(memory_ + kTagTextAt + at, tag.text(), tag.length);
  known.text_at.store(at, std::memory_order_release);
  known.length.store(tag.length, std::memory_order_release);
  known.address.store(address, std::memory_order_release);
}

}  // namespace pcp::trace::client
