// SPDX-License-Identifier: LGPL-2.1-or-later
// The transactions in flight per tag: as last seen, and as last told to the agent. Only changes are
// sent: a program that hangs reports it once, and the agent knows how long ago that was.
//
// Thread: the flusher's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "thread/recorders.hpp"

namespace pcp::trace::client {

class OpenReport {
 public:
  // Reads all threads' tables. True if anything changed since the last scan. Throws if there is no
  // memory: then what the last scan found holds, and the next one finds everything.
  bool scan(const Recorders& recorders);

  // True if nothing was in flight at the last scan.
  bool empty() const { return open_tags_ == 0; }

  // Calls visit(tag, number, seconds of the oldest) for each tag that was ever in flight, as of the
  // last scan.
  template <typename Visit>
  void for_each(Visit visit) const {
    const Moment now = present_moment();
    for (const State& state : states_)
      visit(*state.tag, state.found.count,
            state.found.oldest != 0 ? seconds_since(state.found.oldest, now) : 0.0);
  }

  // A new connection or another agent, which knows nothing.
  void begin_anew();

  // The agent read a batch so late that it takes the transactions for younger than they are.
  void tell_again();

  // The process said goodbye: nothing is in flight any more.
  void on_goodbye();

  // True if there is something to send.
  bool has_news() const { return !news_.empty() || (is_anew_ && ever_told_); }

  // Encodes as many changes as fit into so many bytes. Valid until the next call.
  struct Told {
    std::string_view in_flight;  // for the head of a batch
    bool anew;
    const std::vector<const Tag*>& tags;
  };
  Told tell(std::size_t max_bytes);

 private:
  // The number of open transactions of a tag, and the oldest one.
  struct Open {
    std::uint64_t count = 0;
    Moment oldest = 0;
    std::uint32_t thread = 0;  // that began it; 0: ended, or unknown
    bool operator==(const Open&) const = default;
  };

  // State of each tag that was ever in flight.
  struct State {
    const Tag* tag;
    Open seen{};   // so far, by the running scan
    Open found{};  // by the last scan
    Open told{};
    const Recorder* recorder = nullptr;  // of the oldest; null: only counted
    bool is_news = false;                // in news_
  };

  State& state_of(const Tag& tag);
  void see(const Tag& tag, Moment begun, const Recorder& recorder, Moment now);
  void see_counted(const Tag& tag, std::uint64_t count, Moment now);
  bool compare();
  void add_news(State& state);

  std::vector<std::uint32_t> index_;  // by tag id: index in states_ plus one; 0: none
  std::vector<State> states_;
  std::vector<std::uint32_t> news_;  // indexes of states_
  std::size_t open_tags_ = 0;
  bool has_ended_ = false;
  bool is_anew_ = true;  // nothing was told on this connection
  bool ever_told_ = false;
  std::string in_flight_;
  std::vector<const Tag*> tags_;
};

}  // namespace pcp::trace::client
