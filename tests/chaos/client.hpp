// SPDX-License-Identifier: LGPL-2.1-or-later
// A traced program of a schedule: a process with threads, forks and an end.
#pragma once

#include <chrono>
#include <string>

#include "chaos/ledger.hpp"

namespace pcp::trace::chaos {

inline constexpr double kPatience = 60;  // seconds, for everything that must happen in the end

enum class Fate { Finish, Killed, Segfault, Abort, QuickExit, Exit, Exec };

// The end of a process, on a network without faults: after a flush, or by a way out on which the
// library has to deliver by itself. MainLeaves: pthread_exit in main, while its threads still work.
enum class WayOut { Flush, Exit, UnderscoreExit, QuickExit, MainLeaves };

struct ClientPlan {
  std::size_t number = 0;
  std::uint64_t seed = 0;
  std::string socket_path;  // of its proxy's door; empty: use the port
  std::uint16_t port = 0;
  // 0: only the main thread works, and it never flushes.
  std::size_t threads = 0;
  bool threads_come_and_go = false;  // each burst is a new thread's, with an ended one's recorder
  std::size_t kids = 0;
  Fate fate = Fate::Finish;
  WayOut way_out = WayOut::Flush;  // of Fate::Finish, and of its forked children
  bool has_long_pauses = false;    // between attempts to connect: only the end connects soon
  std::chrono::milliseconds fate_after{0};
  unsigned flush_ms = 1;
  unsigned queue = 4096;
  bool holds_little = false;  // of ended transactions that nobody wants yet
  bool is_watched = false;    // makes transactions that monitors may capture
  bool is_direct = false;     // connected to the agent, which gets its black box

  // How long the library waits for an agent at its end, and for the answer to a greeting. One
  // client in twenty waits 1 s; the others wait 60 s, so that the library never gives up on a busy
  // machine.
  bool is_impatient() const { return seed % 20 == 0; }
  std::chrono::seconds patience() const { return std::chrono::seconds(is_impatient() ? 1 : 60); }

  // Its end loses no captured transaction uncounted.
  bool keeps_its_spans() const {
    const bool leaves_box =
        is_direct && (fate == Fate::Killed || fate == Fate::Segfault || fate == Fate::Abort);
    return leaves_box || (fate == Fate::Finish && !may_have_given_up());
  }

  // True if the client ends without a flush and may lose calls. may_have_given_up(): its end took
  // so long that the library may have given up.
  bool may_give_up() const {
    return is_impatient() && fate == Fate::Finish && way_out != WayOut::Flush;
  }
  bool may_have_given_up() const { return may_give_up() && took >= patience(); }
  std::chrono::milliseconds took{0};
};

// Requires: a process just forked, without threads.
[[noreturn]] void run_client(const ClientPlan& plan, Ledger& ledger);

// The program of Fate::Exec: records that many points, then flushes. Gives the exit status.
inline constexpr const char* kAfterExec = "--after-exec";
int run_after_exec(const char* tag, std::uint64_t points);

}  // namespace pcp::trace::chaos
