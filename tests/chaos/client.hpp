// SPDX-License-Identifier: LGPL-2.1-or-later
// A traced program of a schedule: a process of its own, with threads, forks and an end.
#pragma once

#include <chrono>
#include <string>

#include "chaos/ledger.hpp"

namespace pcp::trace::chaos {

inline constexpr double kPatience = 60;  // seconds, for whatever must come in the end

enum class Fate { Finish, Killed, Segfault, Abort, QuickExit, Exit, Exec };

// How a process finishes, on a network without faults: with a flush before, or by a way out that
// has to deliver by itself. MainLeaves: main by pthread_exit, while its threads still work.
enum class WayOut { Flush, Exit, UnderscoreExit, QuickExit, MainLeaves };

struct ClientPlan {
  std::size_t number = 0;
  std::uint64_t seed = 0;
  std::string socket_path;  // where its agent seems to be; empty: at the port
  std::uint16_t port = 0;
  // None: the main thread works, and never asks for a flush.
  std::size_t threads = 0;
  std::size_t kids = 0;
  Fate fate = Fate::Finish;
  WayOut way_out = WayOut::Flush;  // of Fate::Finish, and of its forked children
  bool has_long_pauses = false;    // between its attempts to connect, so that only its end is soon
  std::chrono::milliseconds fate_after{0};
  unsigned flush_ms = 1;
  unsigned queue = 4096;
  bool is_watched = false;  // makes transactions that somebody may ask to see

  // How long it waits for an agent at its end, and for its answer to a greeting: one in twenty as
  // long as a program does, of the others the library may not give up however busy the machine is.
  bool is_impatient() const { return seed % 20 == 0; }
  std::chrono::seconds patience() const { return std::chrono::seconds(is_impatient() ? 1 : 60); }

  // Whether it ends without a flush, so that its end may lose something; and whether it may have:
  // its end took so long that the library may have given up.
  bool may_give_up() const {
    return is_impatient() && fate == Fate::Finish && way_out != WayOut::Flush;
  }
  bool may_have_given_up() const { return may_give_up() && took >= patience(); }
  std::chrono::milliseconds took{0};
};

// Requires: a process just forked, without threads.
[[noreturn]] void run_client(const ClientPlan& plan, Ledger& ledger);

// The program that a client with Fate::Exec executes: so many points, then a flush. Gives the exit
// status.
inline constexpr const char* kAfterExec = "--after-exec";
int run_after_exec(const char* tag, std::uint64_t points);

}  // namespace pcp::trace::chaos
