// SPDX-License-Identifier: LGPL-2.1-or-later
// A program's notes on a captured transaction: attributes, links, why it was aborted. Indexed by
// entry number in the open table. At the end they go to the flusher with the span.
//
// All notes of a process together take at most 4 MiB; the rest is dropped and counted.
//
// Thread: the one with the transaction. Only one thread at a time may add notes to a transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "open/open_table.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

class SpanNotes {
 public:
  static constexpr std::size_t kMostBytes = 4u << 20;  // of a process

  explicit SpanNotes(Moment begun) : begun_(begun) {}
  SpanNotes(const SpanNotes&) = delete;
  SpanNotes& operator=(const SpanNotes&) = delete;
  ~SpanNotes();

  // Replaces an attribute of the same key.
  void add(std::string_view key, std::string_view text, std::optional<double> number);
  void add_link(const wire::SpanLink& link);
  void set_reason(std::string_view reason);
  void set_wanted() { is_wanted_ = true; }
  bool is_wanted() const { return is_wanted_; }

  Moment begun() const { return begun_; }
  std::size_t bytes() const { return bytes_; }

  // Points `span` to these notes. Valid as long as this object.
  void fill(wire::Span& span);

 private:
  struct Attribute {
    std::string key;
    std::string text;
    std::optional<double> number;
  };
  bool change_room(std::size_t before, std::size_t after);

  const Moment begun_;
  std::size_t bytes_ = 0;  // estimated memory of attributes, links and reason
  std::vector<Attribute> attributes_;
  std::vector<wire::SpanAttribute> views_;
  std::vector<wire::SpanLink> links_;
  std::string reason_;
  std::uint32_t left_out_ = 0;
  bool is_wanted_ = false;
};

// Takes the notes of an open transaction, or makes some; null: no memory. Others do not find them
// meanwhile, so an end through a copy at this moment has no notes.
std::unique_ptr<SpanNotes> take_or_make_notes(std::uint32_t entry, Moment begun);
void put_back_notes(std::uint32_t entry, std::unique_ptr<SpanNotes> notes);

// Notes that the traceparent went out with a request. Thread: any.
void note_sent(std::uint32_t entry, Moment begun);
bool is_sent(std::uint32_t entry, Moment begun);

// Notes that a trace came in. True once any has come in or gone out, captured: then any trace here
// may have parts in other processes. Thread: any.
void note_came_in();
bool do_traces_cross();

// At the end: hands over the notes; null: none.
std::unique_ptr<SpanNotes> take_notes(std::uint32_t entry, Moment begun);

}  // namespace pcp::trace::client
