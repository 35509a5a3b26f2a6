// SPDX-License-Identifier: LGPL-2.1-or-later
// Cluster 1 from item 7 on: open transactions, begun and not ended.
#include <chrono>
#include <optional>
#include <string>

#include "metrics/metric_table.hpp"
#include "metrics/units.hpp"

namespace pcp::trace::agent {

namespace {

constexpr auto where_the_oldest_is = [](const TagValues& tag,
                                        double) -> std::optional<std::string> {
  const TagValues::InFlight& in_flight = tag.in_flight;
  if (in_flight.pid == 0) return {};
  const std::string pid = std::to_string(in_flight.pid);
  return in_flight.tid == 0 ? pid : pid + "/" + std::to_string(in_flight.tid);
};

}  // namespace

std::vector<Metric> in_flight_metrics() {
  // clang-format off
  return {
    {1, 7, "trace.transact.inflight", kTransactIndom, PM_SEM_INSTANT, kCount,
     [](const TagValues& tag, double) { return tag.in_flight.open; },
     {"transactions that have begun and not ended yet, by tag",
      R"(How many transactions are open now in all programs that are connected: begun,
and neither ended nor aborted. A number that only grows is a program that hangs,
or that never ends what it begins. Nothing is known of programs that use PCP's
own library, or a version of this one that is older than this metric.
)"}},
    {1, 8, "trace.transact.oldest", kTransactIndom, PM_SEM_INSTANT, kSeconds,
     [](const TagValues& tag, double) {
       return std::chrono::duration<double>(tag.in_flight.oldest_age).count();
     },
     {"how long the oldest open transaction has been running, by tag",
      R"(The time since the oldest of the transactions in trace.transact.inflight began;
0 if there is none. It also grows while the program that has it hangs and sends
nothing, and until it tells that the transaction has ended: a tenth of a second.
trace.transact.oldest_where says where to look.
)"}},
    {1, 9, "trace.transact.oldest_where", kTransactIndom, PM_SEM_INSTANT, kNoUnits,
     where_the_oldest_is,
     {"process and thread of the oldest open transaction, by tag",
      R"(The number of the process that began the transaction in trace.transact.oldest,
and after a slash that of the thread, as in 4711/4715: what gdb -p and
/proc/4711/task/4715 take. Without the thread if that has ended. No value if
nothing is open. Over TCP the number of the process is its own claim.
)"}},
    {1, 10, "trace.transact.vanished", kTransactIndom, PM_SEM_COUNTER, kCount,
     [](const TagValues& tag, double) { return tag.in_flight.vanished; },
     {"transactions whose process went before they ended, by tag",
      R"(Transactions that were open when their process was heard of last, and will not
end any more: it has said that it ends, or is seen to have ended (which takes a
second or two), or its connection was lost two minutes ago. Counted since the
agent first heard of the tag, or since the last reset. An estimate, since what
they began or ended after that is not known.
)"}},
  };
  // clang-format on
}

}  // namespace pcp::trace::agent
