// SPDX-License-Identifier: LGPL-2.1-or-later
// Which transactions are in flight, tag by tag: as the flusher saw it last, and as the agent was
// told. Only what differs is told, so a program that hangs says so once, and is silent from there
// on: the agent knows how long ago that was.
//
// Thread: the flusher's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/recorders.hpp"

namespace pcp::trace::client {

class OpenReport {
 public:
  // Looks through all threads' tables. True if anything differs from the last look. Throws if there
  // is no memory; the next look finds all.
  bool look(const Recorders& recorders);

  // Whether nothing was in flight at the last look.
  bool empty() const { return open_tags_ == 0; }

  // The agent has not heard anything: it is another one, or the connection is new.
  void begin_anew();

  // The agent has heard it, but so late that it takes the transactions for younger than they are.
  void tell_again();

  // The process has taken its leave: what is open has vanished, and nothing is in flight any more.
  void end();

  // Whether there is something to be told.
  bool has_news() const { return !news_.empty() || (is_anew_ && ever_told_); }

  // Tells of what differs as much as has room in so many bytes. Valid until the next call.
  struct Told {
    std::string_view in_flight;  // for the head of a batch
    bool anew;
    const std::vector<const Tag*>& tags;
  };
  Told tell(std::size_t max_bytes);

 private:
  // How many of a tag are open, and the oldest of them.
  struct Open {
    std::uint64_t count = 0;
    Moment oldest = 0;
    std::uint32_t thread = 0;  // that began it; 0: it has ended, or is not known
    bool operator==(const Open&) const = default;
  };

  // Of a tag that was ever seen in flight.
  struct State {
    const Tag* tag;
    Open now;
    Open before;  // at the look before
    Open told;
    const Recorder* recorder = nullptr;  // of the oldest; null: it was only counted
    bool is_news = false;                // in news_
  };

  State& state_of(const Tag& tag);
  void see(const Tag& tag, Moment begun, const Recorder& recorder, Moment now);
  void see_counted(const Tag& tag, std::uint64_t count, Moment now);
  bool compare();
  void add_news(State& state);

  std::vector<std::uint32_t> index_;  // by the tag's id: of states_, plus one; 0: none
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
