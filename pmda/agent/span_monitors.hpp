// SPDX-License-Identifier: LGPL-2.1-or-later
// The monitors that ask for spans, by pmcd's context, with each one's filter and capture. A capture
// lasts from a monitor's first fetch or store until it disconnects or is idle too long.
//
// Thread: the main one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/privileges.hpp"
#include "base/result.hpp"
#include "collector/ingest/limited_log.hpp"
#include "collector/spans/shared_spans.hpp"
#include "metrics/span_desk.hpp"

namespace pcp::trace::agent {

class SpanMonitors final : public SpanDesk {
 public:
  // `filter` is in canonical form; empty: no spans.
  SpanMonitors(SharedSpans& spans, const Privileges& privileges, std::string filter, LogLine log);

  // Sets the context whose fetch is answered next.
  void set_asking(int context) { asking_ = context; }

  SpanAsker asker(Instant now) override;
  SpanControls controls() const override;
  std::string take_wanted() override;

  // The values that may be stored. Each function returns 0 or a PCP error; the log says what is
  // wrong with a filter. With an empty own filter a monitor uses the common one.
  int store_own_filter(int context, const std::string& text, Instant now);
  int store_common_filter(const std::string& text, Instant now);
  int store_wanted(int context, std::string_view text, Instant now);
  int store_fetch_bytes(std::uint64_t bytes);
  int store_memory(std::uint64_t bytes);
  int store_idle(std::uint64_t seconds);

  // The monitor has disconnected: pmcd may reuse its context number.
  void forget(int context) { monitors_.erase(context); }

  // Ends the captures of idle monitors. Returns the time of the next check; nothing if there is no
  // capture.
  std::optional<Instant> end_idle(Instant now);

 private:
  struct Asking {
    std::string filter;    // its own filter
    bool has_own = false;  // false: the common filter applies
    std::unique_ptr<SharedSpans::Subscription> monitor;
    std::string captured{};  // the filter of `monitor`
    Audience audience{};
    Instant asked_at{};
    Instant wanted_since{};  // the second in which it has stored so many wanted traces
    std::size_t wanted = 0;
    std::uint32_t lapses = 0;  // captures that end_idle() has ended
  };

  Result<std::string> canonical(const std::string& text);
  int begin(int context, const std::string& filter, Asking& asking, Instant now);
  const std::string& filter_of(const Asking& asking) const {
    return asking.has_own ? asking.filter : common_filter_;
  }

  SharedSpans& spans_;
  const Privileges& privileges_;
  std::string common_filter_;
  LimitedLog log_;
  std::map<int, Asking> monitors_;  // by context
  int asking_ = -1;
  std::size_t fetch_bytes_;
  Duration idle_;
};

}  // namespace pcp::trace::agent
