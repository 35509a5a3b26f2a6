// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counts/batches.hpp"

#include <algorithm>
#include <utility>

#include "platform/diagnostics.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::client {
namespace {

// More than a body has room for. Bounds the definitions, since an entry without records takes no
// room in a body.
constexpr std::size_t kMaxTagsInBatch = 8192;

// Encodes an entry so that it fits: an extremely wide histogram is coarsened, and at last dropped.
// Without records, only the tag is sent.
void append_entry(std::string& body, Pending::Entry& entry) {
  if (entry.records() == 0) return;
  if (entry.is_added()) return wire::append_increments(body, entry.tag->id, entry.delta);
  const std::size_t before = body.size();
  for (;;) {
    entry.delta.unbinned = has_histogram(entry.type())
                               ? entry.delta.count - entry.delta.nonfinite - entry.histogram.total()
                               : 0;
    if (entry.is_of_failures())
      wire::append_failures(body, entry.tag->id, entry.delta, entry.histogram);
    else
      wire::append_delta(body, entry.tag->id, entry.type(), entry.delta, entry.histogram);
    if (body.size() - before <= wire::kMaxBatchBytes || entry.histogram.empty()) return;
    body.resize(before);
    if (entry.histogram.coarseness() < Histogram::kMaxCoarseness)
      entry.histogram.coarsen();
    else
      entry.histogram.clear();
  }
}

}  // namespace

bool Batches::on_welcome(AgentChange agent, std::uint64_t last_sequence) {
  if (agent == AgentChange::Same) return on_ack(last_sequence);
  in_flight_.begin_with_new_agent();
  if (agent == AgentChange::SameThatForgot)
    in_flight_.drop_all([this](const CountBatch& lost) { counters_.uncertain += lost.records; });
  return true;
}

bool Batches::on_ack(std::uint64_t sequence) {
  return in_flight_.on_ack(
      sequence, [this](const CountBatch& taken) { counters_.acknowledged += taken.records; });
}

void Batches::give_up_first() {
  in_flight_.drop_first([this](const CountBatch& lost) {
    counters_.uncertain += lost.records;
    static bool is_said = false;  // the flusher's
    if (std::exchange(is_said, true)) return;
    print_line("the agent rejected a batch of " + std::to_string(lost.records) +
               " calls as malformed: they count as uncertain, and are not sent again. Please report"
               " this as a bug.");
  });
}

CountBatch* Batches::next(std::uint64_t until) {
  if (!in_flight_.has_room() || pending_.popped() >= until) return nullptr;
  CountBatch& batch = add();
  try {
    batch.body.reserve(last_body_bytes_);
    fill(batch, until);
  } catch (...) {
    if (batch.first_entry == pending_.popped()) in_flight_.remove_last();  // no entry has moved
    throw;
  }
  last_body_bytes_ = batch.body.size();
  return &batch;
}

CountBatch& Batches::add() {
  CountBatch& batch = in_flight_.add();
  batch.first_entry = pending_.popped();
  return batch;
}

// Moves whole entries from Pending into the batch. An exception leaves both intact, and the entries
// in the batch are sent on the next connection.
void Batches::fill(CountBatch& batch, std::uint64_t until) {
  while (pending_.popped() < until && batch.tags.size() < kMaxTagsInBatch) {
    Pending::Entry& entry = pending_.front();
    const std::size_t before = batch.body.size();
    batch.tags.push_back(entry.tag);
    try {
      append_entry(batch.body, entry);
    } catch (...) {
      batch.body.resize(before);
      throw;
    }
    if (before > 0 && batch.body.size() > wire::kMaxBatchBytes) {
      batch.body.resize(before);  // the entry waits for the next batch
      return;
    }
    batch.records += entry.records();
    counters_.sent += entry.records();
    counters_.thinned += entry.delta.unbinned;
    if (entry.is_of_failures()) counters_.aborted += entry.records();
    if (entry.records() > 0) {
      batch.first_ns = std::min(batch.first_ns, entry.first_ns);
      batch.last_ns = std::max(batch.last_ns, entry.last_ns);
    }
    pending_.pop();
  }
}

}  // namespace pcp::trace::client
