// SPDX-License-Identifier: LGPL-2.1-or-later
// Cluster 5: spans as PCP events, and their control. They are outside of `trace`, because fetching
// all of `trace` should not include them.
#include "metrics/metric_table.hpp"
#include "metrics/span_items.hpp"
#include "metrics/units.hpp"

namespace pcp::trace::agent {

namespace {

// Event parameters have values only within events.
template <typename Value>
constexpr auto parameter = [](const AgentStatus&) { return std::optional<Value>(); };
constexpr auto text = parameter<std::string>;
constexpr auto number = parameter<std::uint32_t>;

template <std::uint32_t SpanControls::*Control>
constexpr auto control = [](const AgentStatus& status) { return status.span_controls.*Control; };

template <MissedCause Cause>
constexpr auto missed =
    [](const AgentStatus& status) { return status.spans.missed[static_cast<std::size_t>(Cause)]; };

constexpr unsigned kFirstControl = 30;
constexpr unsigned kBacklog = 40;
constexpr unsigned kFirstOfAgent = 50;

}  // namespace

std::vector<Metric> span_metrics() {
  // clang-format off
  return {
    {5, kEventsItem, "tracing.events", kNoIndom, PM_SEM_INSTANT, kNoUnits,
     [](const EventBlock& events) { return events; },
     {"single transactions and what happened in them, as events",
      R"(Captured by programs for this monitor since its last fetch, in the order of
time: for each transaction that has ended a START and an END, which tells all
that is known of it; for each point, observation and counter that was asked for
a POINT. event.missed counts those that the monitor has missed.

A filter that is stored here, as "pmevent -x FILTER" does, says what this
monitor wants to see:
  tag=GLOB[,GLOB..] share=1% limit=1000/s pid=N service=GLOB process=GLOB
  kind=point,observe,counter
All that is named must match. Others see what tracing.control.filter says. Root,
PCP's user and the agent's own see all programs, other users of this host their
own; monitors of other hosts and of pmproxy see none. pmdatrace(1) has the rest.
)"},
     Store::OwnFilter},

    {5, kSpanParam, "tracing.param.span", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"the transaction's own id, in events",
      R"(16 hexadecimal digits. For a point, observation or counter: the transaction in
which it happened.
)"}},
    {5, kParentParam, "tracing.param.parent", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"id of the transaction that this one is a part of, in events",
      R"(16 hexadecimal digits; it may be one of another process, or one that only
another monitor has asked for. Missing at the root of a trace.
)"}},
    {5, kTraceParam, "tracing.param.trace", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"id of the trace that a transaction belongs to, in events",
      R"(32 hexadecimal digits, the same for all that one request has caused, in whatever
process and on whatever host: the trace id of W3C's Trace Context.
)"}},
    {5, kTagParam, "tracing.param.tag", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"the tag, in events",
      R"(The name that the program has given to the transaction, point, observation or
counter: an instance of trace.transact and its likes.
)"}},
    {5, kServiceParam, "tracing.param.service", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"the service, in events",
      R"(PCP_TRACE_SERVICE of the program, else its name.
)"}},
    {5, kProcessParam, "tracing.param.process", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"the program's name, in events",
      R"(Missing where it is the same as the service.
)"}},
    {5, kHostParam, "tracing.param.host", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"address of the program's host, in events",
      R"(Missing of programs on the agent's own host.
)"}},
    {5, kAttributesParam, "tracing.param.attributes", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"what the program has noted of a transaction, in events",
      R"(Words of the form key=value with a blank between them. A byte that would mislead
a reader is \xNN: blanks, backslashes, what is not printable, = in a key, and
the first byte of a text that could be taken for a number.
)"}},
    {5, kLinksParam, "tracing.param.links", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"transactions that have to do with this one, in events",
      R"(Words of the form trace-span with a blank between them: 32 hexadecimal digits
and 16.
)"}},
    {5, kReasonParam, "tracing.param.reason", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"why a transaction was aborted, in events",
      R"(The program's own words, if it had any.
)"}},
    {5, kKindParam, "tracing.param.kind", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"what kind of transaction or event it is, in events",
      R"("server" continues the trace of another process, "client" has given its trace to
another process, "transact" is any other transaction; "point", "observe",
"counter" (what it has grown to) and "add" (what was added to it) are events.
)"}},
    {5, kStatusParam, "tracing.param.status", kNoIndom, PM_SEM_DISCRETE, kNoUnits, text,
     {"how a transaction has ended, in events",
      R"("ok", or "aborted".
)"}},
    {5, kPidParam, "tracing.param.pid", kNoIndom, PM_SEM_DISCRETE, kNoUnits, number,
     {"the process, in events",
      R"(The kernel's word of programs that use the agent's Unix socket, else their own.
)"}},
    {5, kTidParam, "tracing.param.tid", kNoIndom, PM_SEM_DISCRETE, kNoUnits, number,
     {"the thread, in events",
      R"(That in which the transaction began, or the event happened.
)"}},
    {5, kFlagsParam, "tracing.param.flags", kNoIndom, PM_SEM_DISCRETE, kNoUnits, number,
     {"flags of a trace, in events",
      R"(The low 8 bits are those of W3C's Trace Context; 0x100: the parent is known to
be in another process. Missing if none is set.
)"}},
    {5, kMissingParam, "tracing.param.missing", kNoIndom, PM_SEM_DISCRETE, kNoUnits, number,
     {"attributes and links that are not shown, in events",
      R"(How many there was no room for. Missing if there was room for all.
)"}},
    {5, kTimeParam, "tracing.param.time", kNoIndom, PM_SEM_DISCRETE, kNanoseconds,
     parameter<std::uint64_t>,
     {"when a transaction began, or an event happened, in events",
      R"(Exactly, since 1970: the time of a record itself is in microseconds.
)"}},
    {5, kDurationParam, "tracing.param.duration", kNoIndom, PM_SEM_DISCRETE, kNanoseconds,
     parameter<std::uint64_t>,
     {"how long a transaction took, in events",
      R"(In nanoseconds, by a clock that is never set.
)"}},
    {5, kValueParam, "tracing.param.value", kNoIndom, PM_SEM_INSTANT, kNoUnits,
     parameter<double>,
     {"value of an observation or a counter, in events",
      R"(As the program has given it.
)"}},

    {5, kFirstControl, "tracing.control.filter", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
     [](const AgentStatus& status) { return status.span_controls.filter; },
     {"what a monitor sees that has no filter of its own",
      R"(A filter as tracing.events takes it, at first that of the agent's option
--capture. Empty: nothing, so that no monitor has spans captured by chance. May
be stored, as all of tracing.control, by those who may store
trace.control.reset.
)"},
     Store::CommonFilter},
    {5, kFirstControl + 1, "tracing.control.fetch", kNoIndom, PM_SEM_DISCRETE, kBytes,
     control<&SpanControls::fetch_bytes>,
     {"bytes of events that one fetch has at most",
      R"(From 32768 to 8388608; storing another number changes it. A monitor that is
connected through pmcd's Unix socket gets 163840 at most: pmcd waits for a
monitor that has stopped reading, and that socket takes hardly more.
)"},
     Store::FetchBytes},
    {5, kFirstControl + 2, "tracing.control.memory", kNoIndom, PM_SEM_DISCRETE, kBytes,
     control<&SpanControls::memory_bytes>,
     {"memory for spans that wait for monitors",
      R"(The agent's option --span-memory; storing another number changes it. Where there
is no more room the program's user who has most loses the oldest of his, which
tracing.agent.missed.overwritten counts.
)"},
     Store::SpanBytes},
    {5, kFirstControl + 3, "tracing.control.idle", kNoIndom, PM_SEM_DISCRETE, kSeconds,
     control<&SpanControls::idle_s>,
     {"after how many seconds without a fetch a monitor has nothing captured",
      R"(Its next fetch begins anew. More than the interval of the slowest monitor;
storing another number changes it.
)"},
     Store::IdleSeconds},

    {5, kBacklog, "tracing.backlog", kNoIndom, PM_SEM_INSTANT, kCount,
     control<&SpanControls::backlog>,
     {"transactions and events that wait for this monitor",
      R"(The number that this fetch has left for the next one, or a little more.
)"}},

    {5, kFirstOfAgent, "tracing.agent.captures", kNoIndom, PM_SEM_INSTANT, kCount,
     [](const AgentStatus& status) { return status.spans.captures; },
     {"different filters that spans are captured for now",
      R"(At most 32; monitors that ask for the same share one.
)"}},
    {5, kFirstOfAgent + 1, "tracing.agent.captured", kNoIndom, PM_SEM_COUNTER, kCount,
     [](const AgentStatus& status) { return status.spans.captured; },
     {"transactions and events that programs have captured",
      R"(As they have counted them, for each filter that matches.
)"}},
    {5, kFirstOfAgent + 2, "tracing.agent.delivered", kNoIndom, PM_SEM_COUNTER, kCount,
     [](const AgentStatus& status) { return status.spans.delivered; },
     {"transactions and events that monitors were given",
      R"(Each for each monitor that has got it.
)"}},
    {5, kFirstOfAgent + 3, "tracing.agent.missed.full", kNoIndom, PM_SEM_COUNTER, kCount,
     missed<MissedCause::Full>,
     {"captured, but there was no room in the program",
      R"(For each filter that matches, as of all of tracing.agent.missed.
)"}},
    {5, kFirstOfAgent + 4, "tracing.agent.missed.limit", kNoIndom, PM_SEM_COUNTER, kCount,
     missed<MissedCause::Limit>,
     {"captured, but there were too many in a second",
      R"(The filter's limit=, or what the agent allows each program so that all together
send no more than 20,000 a second. Whole trees of transactions are left out.
)"}},
    {5, kFirstOfAgent + 5, "tracing.agent.missed.waiting", kNoIndom, PM_SEM_COUNTER, kCount,
     missed<MissedCause::Waiting>,
     {"captured, but it was not known in time whether they were slow enough",
      R"(With slower= in the filter, what is below a transaction waits for its end, for
so long and in so much memory.
)"}},
    {5, kFirstOfAgent + 6, "tracing.agent.missed.away", kNoIndom, PM_SEM_COUNTER, kCount,
     missed<MissedCause::Away>,
     {"captured, but the agent was away",
      R"(Or had forgotten whether it had taken them.
)"}},
    {5, kFirstOfAgent + 7, "tracing.agent.missed.overwritten", kNoIndom, PM_SEM_COUNTER, kCount,
     [](const AgentStatus& status) { return status.spans.overwritten; },
     {"dropped by the agent before all monitors had them",
      R"(There was no more room (tracing.control.memory). Each monitor is told of those
that it has not had in event.missed.
)"}},
    {5, kFirstOfAgent + 8, "tracing.agent.bytes", kNoIndom, PM_SEM_INSTANT, kBytes,
     [](const AgentStatus& status) { return status.spans.bytes; },
     {"memory in use for spans that wait for monitors",
      R"(At most tracing.control.memory.
)"}},
  };
  // clang-format on
}

}  // namespace pcp::trace::agent
