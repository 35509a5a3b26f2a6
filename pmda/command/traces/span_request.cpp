// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/traces/span_request.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "command/pcp_values.hpp"

namespace pcp::trace::command {

namespace {

constexpr const char* kHowToBePermitted =
    "its agent shows spans to users of that host only, through pmcd's Unix socket"
    " (-h unix:/run/pcp/pmcd.socket): to root and PCP's user those of all programs, to others their"
    " own; to all with its option --capture-remote";

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

// Stores a text into a metric without instances.
int store_text(pmID metric, const std::string& text) {
  const std::size_t length = PM_VAL_HDR_SIZE + text.size() + 1;
  const std::unique_ptr<pmValueBlock, Freed> block(
      static_cast<pmValueBlock*>(std::calloc(1, length)));
  if (!block) return -ENOMEM;
  block->vtype = PM_TYPE_STRING;
  block->vlen = length & PM_VAL_VLEN_MAX;
  std::memcpy(block->vbuf, text.c_str(), text.size() + 1);
  pmValueSet set{};
  set.pmid = metric;
  set.numval = 1;
  set.valfmt = PM_VAL_DPTR;
  set.vlist[0].inst = static_cast<int>(PM_IN_NULL);
  set.vlist[0].value.pval = block.get();
  pmResult result{};
  result.numpmid = 1;
  result.vset[0] = &set;
  return pmStore(&result);
}

Result<SpanMetrics> look_up() {
  if (const Result<void> found = find_agent(); !found) return found.error();
  const SpanMetrics metrics{lookup("tracing.events"), lookup("tracing.backlog"),
                            lookup("trace.agent.uptime")};
  if (metrics.events != PM_ID_NULL && metrics.backlog != PM_ID_NULL) return metrics;
  return Error{"its trace agent is PCP's own, or too old: it has no spans (no tracing.events)"};
}

}  // namespace

// Names stay in the namespace when their agent has ended.
Result<void> find_agent() {
  const pmID id = lookup("trace.transact.count");
  if (id == PM_ID_NULL)
    return Error{"its pmcd has no metrics trace.*; is the trace agent installed there?"};
  pmDesc description{};
  if (pmLookupDesc(id, &description) >= 0) return {};
  return Error{
      "its trace agent does not run, or does not answer; trace.log, beside pmcd's log, may say "
      "why"};
}

Result<SpanMetrics> ask_for_spans(const std::string& filter) {
  Result<SpanMetrics> metrics = look_up();
  if (!metrics) return metrics;
  const int status = store_text(metrics->events, filter);
  if (status >= 0) return metrics;
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

}  // namespace pcp::trace::command
