// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/pcp_host.hpp"

#include <cerrno>
#include <cstdlib>

#include "command/pcp/pcp_values.hpp"
#include "command/pcp/sample.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

namespace {

constexpr const char* kHowToBePermitted =
    "its agent shows spans to users of that host only, through pmcd's Unix socket"
    " (-h unix:/run/pcp/pmcd.socket): to root and PCP's user those of all programs, to others their"
    " own; to all with its option --capture-remote";

// Adds advice to PCP's message.
Error connection_error(const std::string& what, int status) {
  // PCP gives this error for an unknown name, too.
  if (status == -EHOSTUNREACH) return {what + ": unknown or unreachable host"};
  Error error = pcp_error(what, status);
  if (status == -ECONNREFUSED || status == -ENOENT)
    error.message += ". Does it run? `pcp-trace record COMMAND` needs none";
  return error;
}

// Stores a text into a metric without instances.
int store_text(pmID metric, const std::string& text) {
  const TextSample sample(metric, {text.c_str(), text.size() + 1});  // with its NUL
  pmValueSet set{};
  set.pmid = metric;
  set.numval = 1;
  set.valfmt = PM_VAL_DPTR;
  set.vlist[0] = sample.sample().front().values.front();
  pmResult result{};
  result.numpmid = 1;
  result.vset[0] = &set;
  return pmStore(&result);
}

// An older agent does not know them: programs capture more, and the caller chooses.
std::string without_reasons(const std::string& filter) {
  auto parsed = wire::parse_capture_filter(filter);
  if (!parsed) return filter;
  parsed->reasons = 0;
  return wire::text_of(*parsed);
}

}  // namespace

void settle_environment() {
  // By default PCP's library waits 5 seconds before it reconnects, and later up to 80.
  ::setenv("PMCD_RECONNECT_TIMEOUT", "1,2,5", 0);
  pmGetOptionalConfig("PCP_VERSION");  // adds all variables of pcp.conf(5)
}

PcpHost::~PcpHost() {
  if (context_ >= 0) pmDestroyContext(context_);
}

Result<void> PcpHost::connect(const std::string& failure) {
  if (is_connected()) return {};
  if (context_ < 0) {
    context_ = pmNewContext(name_.empty() ? PM_CONTEXT_LOCAL : PM_CONTEXT_HOST, name_.c_str());
    if (context_ < 0) return connection_error(failure, context_);
  } else if (const int status = pmReconnectContext(context_); status < 0) {
    return pcp_error("pmcd", status);
  }
  is_lost_ = false;
  must_ask_ = true;
  lapses_ = 0;
  host_name_ = host_name_of(context_);
  return {};
}

Result<OwnedResult> PcpHost::fetch(std::vector<pmID> metrics) {
  use();
  pmResult* read = nullptr;
  const int status = pmFetch(static_cast<int>(metrics.size()), metrics.data(), &read);
  if (status < 0) return pcp_error("pmcd", status);
  must_ask_ |= (status & PMCD_AGENT_CHANGE) != 0;
  labels_changed_ |= (status & PMCD_LABEL_CHANGE) != 0;
  return OwnedResult(read, pmFreeResult);
}

// Names stay in the namespace when their agent has ended.
Result<void> PcpHost::find_agent() const {
  use();
  const pmID id = lookup("trace.transact.count");
  if (id == PM_ID_NULL)
    return Error{"its pmcd has no metrics trace.*; is the trace agent installed there?"};
  pmDesc description{};
  if (pmLookupDesc(id, &description) >= 0) return {};
  return Error{
      "its trace agent does not run, or does not answer; trace.log, beside pmcd's log, may say "
      "why"};
}

Result<void> PcpHost::ask_for_spans() {
  must_ask_ = true;
  if (Result<void> found = find_agent(); !found) return found;
  span_metrics_ = {lookup("tracing.events"), lookup("tracing.backlog"),
                   lookup("trace.agent.uptime")};
  uptime_s_ = 0;
  if (span_metrics_[0] == PM_ID_NULL || span_metrics_[1] == PM_ID_NULL)
    return Error{"its trace agent is PCP's own, or too old: it has no spans (no tracing.events)"};
  if (const pmID lapses = lookup("tracing.lapses"); lapses != PM_ID_NULL)
    span_metrics_.push_back(lapses);
  const pmID wanted = lookup("tracing.wanted");
  if (wanted != PM_ID_NULL) span_metrics_.push_back(wanted);
  const int status =
      store_text(span_metrics_[0], wanted != PM_ID_NULL ? filter_ : without_reasons(filter_));
  must_ask_ = status < 0;
  if (status >= 0) return {};
  if (status == PM_ERR_PERMISSION) return Error{std::string("no permission: ") + kHowToBePermitted};
  if (status == -EDQUOT)
    return Error{
        "you have asked for four different filters already, and no user may have more at a time"};
  if (status == -EUSERS)
    return Error{
        "too many different filters: there may be 32 at a time, 24 of them of users without"
        " privileges"};
  if (status == PM_ERR_BADSTORE)
    return Error{"its trace agent does not understand this filter; its log says why"};
  return pcp_error("its trace agent does not take the filter", status);
}

Result<PcpHost::Spans> PcpHost::fetch_spans() {
  Result<OwnedResult> fetched = fetch(span_metrics_);
  if (!fetched) return fetched.error();
  Spans spans{*std::move(fetched)};
  const int status = spans.events().numval;
  if (status == PM_ERR_NOAGENT || status == PM_ERR_IPC || status == -EPIPE)
    return Error{"its trace agent has gone"};
  if (status < 0) return pcp_error("the trace agent", status);
  spans.backlog = u32_of(*spans.result->vset[1]).value_or(0);
  const double uptime_s = double_of(*spans.result->vset[2]).value_or(0);
  spans.has_new_agent = uptime_s < std::exchange(uptime_s_, uptime_s);
  if (span_metrics_.size() > 3) {
    const std::uint32_t lapses = u32_of(*spans.result->vset[3]).value_or(lapses_);
    spans.has_lapsed = lapses > std::exchange(lapses_, lapses);
  }
  if (span_metrics_.size() > 4) spans.wanted = text_of(*spans.result->vset[4]).value_or("");
  return spans;
}

int PcpHost::want_traces(const std::string& wanted) {
  use();
  return span_metrics_.size() > 4 ? store_text(span_metrics_[4], wanted) : 0;
}

}  // namespace pcp::trace::command
