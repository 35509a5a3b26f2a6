// SPDX-License-Identifier: LGPL-2.1-or-later
// Another process reads the black box of one that was killed.
#include "spans/black_box.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "capturing.hpp"
#include "spans/slow_spans.hpp"
#include "spans/taken_spans.hpp"

namespace pcp::trace::client {
namespace {

namespace box = wire::box;

constexpr std::size_t kHold = 64 << 10;
constexpr std::uint64_t kMost = 1 << 20;

// The child notes here how far it has come; the memory outlives it.
struct Log {
  std::atomic<int> descriptor;
  // Transactions have the ids 1, 2 ... in order of their begins, by trace.
  std::atomic<std::uint64_t> begun;
  std::atomic<std::uint64_t> opened;        // the begin has returned
  std::atomic<std::uint64_t> ended;         // the call has returned for all up to this one
  std::atomic<std::uint64_t> acknowledged;  // the agent has all up to this one
};

struct BlackBoxTest : testing::Test {
  BlackBoxTest()
      : log(static_cast<Log*>(::mmap(nullptr, sizeof(Log), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~BlackBoxTest() override { ::munmap(log, sizeof(Log)); }

  // A program whose requests cross processes: each is held, then wanted, sent and acknowledged.
  [[noreturn]] void run_program() {
    Traced_ program;
    SharedParts& shared = program.shared;
    TakenSpans taken{shared.box(), kHold};
    HeldTraces held{taken, [](std::uint16_t, CaptureBits, CaptureBooks::Outcome) {}};
    SlowSpans flusher{shared.spans(), shared.slow_trees(), held};
    shared.box().make(kHold);
    auto set = std::make_unique<CaptureSet>(1, &shared.box());
    set->set_relayed();
    shared.box().note_set(set->epoch(), 1);
    program.add_filter(*set, {3, 3, "tag=request* slower=3600s limit=1000000/s"});
    shared.captures().publish(std::move(set));
    log->descriptor.store(shared.box().descriptor().number());
    std::uint64_t sequence = 0;
    for (std::uint64_t id = 1; id < kMost; ++id) {
      log->begun.store(id);
      const TraceContext header{
          .trace_high = 1, .trace_low = id, .parent = 2, .packed = kCameInFlag};
      const Open open{program.request, program.recorder.begin_in(program.request, {header, {}})};
      log->opened.store(id);
      program.end(open);
      log->ended.store(id);
      if (id % 10 != 0) continue;
      while (const SpanPool::Index list = shared.spans().next_list()) {
        shared.spans().remove_list();
        flusher.settle(list, &program.captures(), now_ns());
      }
      for (std::uint64_t each = id - 9; each <= id; ++each)
        held.want({wire::hash_of_trace(each), kRequest}, program.captures(), now_ns());
      ++sequence;
      std::vector<TakenSpans::Place> in_flight;
      for (TakenSpans::Ready next; taken.next(next);)
        in_flight.push_back(taken.remove_next(&sequence));
      log->acknowledged.store(id);
      taken.settle(in_flight);
    }
    ::_exit(0);
  }

  // The traces in the box.
  struct Found {
    std::set<std::uint64_t> ended, open;
    std::vector<CaptureBits> reason_for;  // of open ones
  };
  static Found read(int fd, std::size_t ring_bytes) {
    const std::size_t bytes = box::file_bytes(ring_bytes);
    auto* const memory = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0));
    Found found;
    const auto* const nodes = reinterpret_cast<const box::Node*>(memory + box::kNodesAt);
    for (std::uint32_t i = 0; i < box::kMostNodes; ++i)
      if (nodes[i].is_live != 0) found.ended.insert(nodes[i].trace_low);
    const auto* const slots = reinterpret_cast<const box::Slot*>(memory + box::kSlotsAt);
    for (std::uint32_t entry = 0; entry < 64; ++entry)
      if (const box::Slot& slot =
              slots[entry % box::kSlotsInBlock * box::kMostBlocks + entry / box::kSlotsInBlock];
          slot.own != 0) {
        found.open.insert(slot.trace_low);
        found.reason_for.push_back(slot.reason_for);
      }
    const auto* const ring = reinterpret_cast<const box::RingHead*>(memory + box::kRingHeadAt);
    const std::uint64_t end = ring->head;
    for (std::uint64_t position = ring->tail; position < end;) {
      const auto* const record =
          reinterpret_cast<const box::Record*>(memory + box::kRingAt + position % ring_bytes);
      if (record->tag_and_flags != box::kGap &&
          (record->undecided | record->to_send | record->in_flight) != 0)
        found.ended.insert(record->trace_low);
      position += (record->bytes + 7U) & ~7U;
    }
    ::munmap(memory, bytes);
    return found;
  }

  // The name of a tag in the box.
  static std::string text_of(int fd, const Tag& tag) {
    box::Tag known{};
    EXPECT_EQ(::pread(fd, static_cast<void*>(&known), sizeof known,
                      offsetof(box::Head, tags) + tag.id * sizeof known),
              static_cast<ssize_t>(sizeof known));
    EXPECT_EQ(known.address, reinterpret_cast<std::uint64_t>(&tag));
    std::string text(known.length, ' ');
    EXPECT_EQ(::pread(fd, text.data(), text.size(), box::kTagTextAt + known.text_at),
              static_cast<ssize_t>(text.size()));
    return text;
  }

  struct Traced_ : Capturing {
    void TestBody() override {}
  };

  Log* const log;
};

TEST_F(BlackBoxTest, WhateverWasNotAcknowledged_IsThereAfterAKill) {
  std::mt19937 random{1};
  for (int round = 0; round < 300; ++round) {
    new (log) Log{};
    const pid_t child = ::fork();
    if (child == 0) run_program();
    while (log->descriptor.load() == 0) continue;
    const std::string path =
        "/proc/" + std::to_string(child) + "/fd/" + std::to_string(log->descriptor);
    const int fd = ::open(path.c_str(), O_RDONLY);
    ASSERT_GE(fd, 0);
    const std::uint64_t until = random() % 3'000 + 1;
    while (log->begun.load() < until) continue;
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const Found found = read(fd, box::paged(kHold));
    ::close(fd);
    for (std::uint64_t id = log->acknowledged + 1; id <= log->ended; ++id)
      ASSERT_TRUE(found.ended.contains(id)) << "round " << round << ", " << id;
    for (const std::uint64_t id : found.open)
      ASSERT_TRUE(id == log->begun) << "round " << round << ", " << id;
    for (std::uint64_t id = log->ended + 1; id <= log->opened; ++id)
      ASSERT_TRUE(found.open.contains(id) || found.ended.contains(id)) << "round " << round;
    ASSERT_LE(found.ended.size(), 30U);
  }
}

TEST_F(BlackBoxTest, OpenTransaction_IsThereWithItsTagUntilItsEnd) {
  Traced_ program;
  program.shared.box().make(kHold);
  auto set = std::make_unique<CaptureSet>(1, &program.shared.box());
  set->set_relayed();
  program.add_filter(*set, {3, 3, "tag=request* slower=3600s limit=1000000/s"});
  program.shared.captures().publish(std::move(set));
  const int fd = program.shared.box().descriptor().number();
  const Open outer = program.begin(program.request);
  const Open inner = program.begin(program.part);
  EXPECT_EQ(read(fd, kHold).open, std::set{outer.traced.context.trace_low});
  EXPECT_EQ(read(fd, kHold).reason_for, (std::vector<CaptureBits>{kRequest, 0}));
  EXPECT_EQ(text_of(fd, *program.part), name_of(*program.part));
  program.end(inner);
  EXPECT_EQ(read(fd, kHold).ended.size(), 1U);
  const Tag* const other = program.of_this_test("ends as this ");
  program.recorder.end_traced(outer.transaction(), outer.traced.context, false, other);
  EXPECT_EQ(text_of(fd, *other), name_of(*other));
  EXPECT_TRUE(read(fd, kHold).open.empty());
  EXPECT_TRUE(read(fd, kHold).ended.empty());
}

TEST_F(BlackBoxTest, WhatACaptureMissed_IsThereUntilNobodyCounts) {
  Traced_ program;
  BlackBox& own = program.shared.box();
  own.make(kHold);
  const auto counted = [&](std::uint64_t capture) {
    const auto* const head = static_cast<const box::Head*>(
        ::mmap(nullptr, sizeof(box::Head), PROT_READ, MAP_SHARED, own.descriptor().number(), 0));
    std::vector<std::uint64_t> full;
    for (const box::Missed& each : head->missed)
      if (each.capture == capture) full.push_back(each.full);
    ::munmap(const_cast<box::Head*>(head), sizeof(box::Head));
    return full;
  };
  {
    CaptureSet set(1, &own);
    CaptureSet next(2, &own);
    program.add_filter(set, {7, 3, "tag=request*"});
    program.add_filter(next, {7, 3, "tag=request*"});
    next.count_in(3, set.at(3).missed);
    set.miss_for_want_of_room(kRequest, 2);
    next.miss_for_want_of_room(kRequest);
    EXPECT_EQ(counted(7), std::vector<std::uint64_t>{3});
    std::vector<std::shared_ptr<box::Missed>> many;
    for (std::uint64_t id = 0; id < box::Head::kMissed; ++id)
      many.push_back(own.make_missed(100 + id));
    EXPECT_TRUE(counted(100 + box::Head::kMissed - 1).empty());  // it counts elsewhere
    EXPECT_EQ(counted(7).size(), 1U);
  }
  EXPECT_TRUE(counted(7).empty());
  EXPECT_EQ(own.make_missed(8)->full, 0U);
}

// Another filter may want it while its EVENTS is made; a third one is still undecided.
TEST_F(BlackBoxTest, SpanInFlightForTwoFilters_IsThereForBothAndTheThird) {
  BlackBox own;
  TakenSpans taken{own, kHold};
  const Tag* const tag = intern_tag("in flight");
  taken.add({.tag = tag}, 0b001, 0b110, 1, [](const TakenSpans::Record&) {});
  const std::uint64_t sequence = 1;
  TakenSpans::Ready next;
  std::vector<TakenSpans::Place> in_flight;
  for (const CaptureBits wanted : {0b010U, 0U}) {
    ASSERT_TRUE(taken.next(next));
    in_flight.push_back(taken.remove_next(&sequence));
    taken.send(in_flight.back().position, wanted);
  }
  EXPECT_EQ(next.record->in_flight, 0b011U);
  taken.settle(in_flight);
  EXPECT_EQ(next.record->in_flight, 0U);
  EXPECT_EQ(next.record->undecided, 0b100U);
}

TEST_F(BlackBoxTest, EndOfTheProcess_IsNoted) {
  BlackBox own;
  own.make(kHold);
  const auto is_ending = [&] {
    std::uint32_t word = 0;
    EXPECT_EQ(
        ::pread(own.descriptor().number(), &word, sizeof word, offsetof(box::Head, is_ending)),
        static_cast<ssize_t>(sizeof word));
    return word;
  };
  EXPECT_EQ(is_ending(), 0U);
  BlackBox::note_end();
  EXPECT_EQ(is_ending(), 1U);
}

TEST_F(BlackBoxTest, Descriptor_IsForReading) {
  BlackBox own;
  own.make(kHold);
  const int fd = own.descriptor().number();
  struct stat file {};
  ASSERT_EQ(::fstat(fd, &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0400U);
  EXPECT_EQ(::fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
}

// A signal handler of the program may fork in the middle of a call.
TEST_F(BlackBoxTest, ForkedChild_HasZerosInItsPlace) {
  BlackBox own;
  own.make(kHold);
  auto* const memory = static_cast<char*>(own.map(box::kNodesAt, 1));
  *memory = 1;
  const pid_t child = ::fork();
  if (child == 0) {
    if (*memory != 0) ::_exit(1);
    *memory = 2;
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*memory, 1);
}

}  // namespace
}  // namespace pcp::trace::client
