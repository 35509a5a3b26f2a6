// SPDX-License-Identifier: LGPL-2.1-or-later
// All that the process has for an agent. The flusher fills it; an output empties it.
//
// Thread: the flusher's.
#pragma once

#include <functional>
#include <utility>

#include "counts/pending.hpp"
#include "link/output.hpp"
#include "open/open_report.hpp"
#include "spans/span_sender.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::client {

struct Outbox {
  // Gives the library's counters, which every batch carries.
  using ReadCounters = std::function<wire::ClientCounters()>;

  Outbox(Recorders& recorders, const ClientOptions& options, DeliveryCounters& delivered,
         ReadCounters read)
      : spans(recorders, options), counters(delivered), client_counters(std::move(read)) {}

  Pending pending;
  OpenReport open;
  SpanSender spans;
  DeliveryCounters& counters;
  const ReadCounters client_counters;
};

}  // namespace pcp::trace::client
