// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbered messages of one kind, at most kMost of them unacknowledged. An agent takes each number
// once. The owner decides what a new connection gets again, and what is lost.
//
// Thread: the flusher's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pcp::trace::client {

// Compares the agent of a new connection with the one before.
enum class AgentChange { Another, SameThatForgot, Same };

// A message knows its number, and which of all sent messages it was; see AgentSession.
struct Numbered {
  std::uint64_t sequence = 0;
  std::uint64_t nth_sent = 0;  // the last time; 0: never
};

template <typename Message, std::size_t kMost>
class Sequenced {
 public:
  Sequenced() { in_flight_.reserve(kMost); }

  bool empty() const { return in_flight_.empty(); }
  bool has_room() const { return in_flight_.size() < kMost; }

  // The unacknowledged messages.
  Message& front() { return in_flight_.front(); }
  const Message& front() const { return in_flight_.front(); }
  auto begin() { return in_flight_.begin(); }
  auto end() { return in_flight_.end(); }

  // The next message that is added gets this number.
  std::uint64_t next_sequence() const { return last_ + 1; }

  // Requires: room for it. Allocates nothing.
  Message& add(Message&& made = {}) {
    Message& message = in_flight_.emplace_back(std::move(made));
    message.sequence = ++last_;
    return message;
  }
  void remove_last() { in_flight_.pop_back(); }

  // False if there never was such a message.
  bool has_made(std::uint64_t sequence) const { return sequence <= last_; }

  // The agent has all messages up to this one: calls taken(message) for each in flight, and removes
  // it. False if there was no such message.
  template <typename Taken>
  bool on_ack(std::uint64_t sequence, Taken taken) {
    if (!has_made(sequence)) return false;
    last_taken_ = std::max(last_taken_, sequence);
    for (; !empty() && front().sequence <= sequence; remove_first()) taken(front());
    return true;
  }

  // Calls lost(message) and removes the message.
  template <typename Lost>
  void drop_first(Lost lost) {
    lost(front());
    remove_first();
  }

  template <typename Lost>
  void drop_all(Lost lost) {
    while (!empty()) drop_first(lost);
  }

  // The last message that this agent has, in the session it knows.
  std::uint64_t last_taken() const { return last_taken_; }
  void begin_with_new_agent() { last_taken_ = 0; }

 private:
  void remove_first() { in_flight_.erase(in_flight_.begin()); }

  std::vector<Message> in_flight_;
  std::uint64_t last_ = 0;
  std::uint64_t last_taken_ = 0;
};

}  // namespace pcp::trace::client
