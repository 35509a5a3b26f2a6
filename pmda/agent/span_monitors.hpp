// SPDX-License-Identifier: LGPL-2.1-or-later
// The monitors that ask for spans, by pmcd's context: what each wants to see, and what is captured
// for it, from its first fetch or store until it goes or has not fetched for long.
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

#include "agent/privileges.hpp"
#include "collector/ingest/limited_log.hpp"
#include "collector/spans/spans.hpp"
#include "metrics/span_desk.hpp"
#include "wire/result.hpp"

namespace pcp::trace::agent {

class SpanMonitors final : public SpanDesk {
 public:
  // `filter` is canonical, or empty: nothing.
  SpanMonitors(Spans& spans, const Privileges& privileges, std::string filter, LogLine log);

  // Whose fetch is answered next.
  void set_asking(int context) { asking_ = context; }

  SpanAsker asker(Time now) override;
  SpanControls controls() const override;

  // What may be stored. Each gives 0 or a PCP error; the log says what is wrong with a filter.
  // An empty filter of a monitor's own makes it see what the common one says.
  int store_own_filter(int context, const std::string& text, Time now);
  int store_common_filter(const std::string& text, Time now);
  int store_fetch_bytes(std::uint64_t bytes);
  int store_memory(std::uint64_t bytes);
  int store_idle(std::uint64_t seconds);

  // The monitor has gone: the next one of this context is another.
  void forget(int context) { monitors_.erase(context); }

  // Ends what is captured for those who have been idle. Gives when to look again; nothing if
  // nothing is captured.
  std::optional<Time> end_idle(Time now);

 private:
  struct Asking {
    std::string filter;    // its own
    bool has_own = false;  // else the common one holds
    std::unique_ptr<Spans::Monitor> monitor;
    std::string captured{};  // the monitor's filter, and its audience
    Audience audience{};
    Time asked_at{};
  };

  Result<std::string> canonical(const std::string& text);
  int begin(int context, const std::string& filter, Asking& asking, Time now);
  const std::string& filter_of(const Asking& asking) const {
    return asking.has_own ? asking.filter : common_filter_;
  }

  Spans& spans_;
  const Privileges& privileges_;
  std::string common_filter_;
  LimitedLog log_;
  std::map<int, Asking> monitors_;  // by context
  int asking_ = -1;
  std::size_t fetch_bytes_;
  Time idle_;
};

}  // namespace pcp::trace::agent
