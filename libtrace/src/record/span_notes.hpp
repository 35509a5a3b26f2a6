// SPDX-License-Identifier: LGPL-2.1-or-later
// What a program notes of a transaction that is captured: attributes, links, why it failed. By the
// number of its entry in the open table, until it ends; then it goes with the span to the flusher.
//
// All notes of a process together take at most 4 MiB; what has no room is left out and counted.
//
// Thread: that which has the transaction; only one at a time may note something of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/open_table.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

class SpanNotes {
 public:
  static constexpr std::size_t kMostBytes = 4u << 20;  // of all

  explicit SpanNotes(Moment begun) : begun_(begun) {}
  SpanNotes(const SpanNotes&) = delete;
  SpanNotes& operator=(const SpanNotes&) = delete;
  ~SpanNotes();

  // A second one of the same key replaces the first.
  void add(std::string_view key, std::string_view text, std::optional<double> number);
  void add_link(const wire::SpanLink& link);
  void set_reason(std::string_view reason);

  Moment begun() const { return begun_; }

  // Sets what is noted. Valid as long as this is.
  void describe(wire::Span& span);

 private:
  struct Attribute {
    std::string key;
    std::string text;
    std::optional<double> number;
  };
  bool change_room(std::size_t before, std::size_t after);

  const Moment begun_;
  std::size_t bytes_ = 0;
  std::vector<Attribute> attributes_;
  std::vector<wire::SpanAttribute> views_;
  std::vector<wire::SpanLink> links_;
  std::string reason_;
  std::uint32_t left_out_ = 0;
};

// Of an open transaction. Null if there is no memory.
SpanNotes* find_or_make_notes(std::uint32_t entry, Moment begun);

// Its trace has gone out with a request. Thread: any.
void note_sent(std::uint32_t entry, Moment begun);
bool is_sent(std::uint32_t entry, Moment begun);

// When it ends: hands over what was noted, if anything was.
SpanNotes* take_notes(std::uint32_t entry, Moment begun);

}  // namespace pcp::trace::client
