// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/span_host.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "command/model/labels.hpp"
#include "command/pcp_values.hpp"

namespace pcp::trace::command {

namespace {

// Parses "4711 front", or "4711#2 front".
HostFacts::Program program_of(const std::string& instance) {
  HostFacts::Program program;
  std::from_chars(instance.data(), instance.data() + instance.size(), program.pid);
  program.process = instance.substr(std::min(instance.find(' ') + 1, instance.size()));
  program.service = program.process;
  return program;
}

std::vector<HostFacts::Program> programs() {
  pmDesc description{};
  const pmID id = lookup("trace.client.recorded");
  if (id == PM_ID_NULL || pmLookupDesc(id, &description) < 0) return {};
  std::map<int, HostFacts::Program> all;
  for (const auto& [number, name] : instances_by(pmGetInDom, description.indom))
    all[number] = program_of(name);
  pmLabelSet* sets = nullptr;
  const int count = pmGetInstancesLabels(description.indom, &sets);
  const OwnedLabels labels(sets, count);
  for (const pmLabelSet& set : labels.all()) {
    const auto found = all.find(static_cast<int>(set.inst));
    if (const std::string service = label_of(set, "service");
        found != all.end() && !service.empty())
      found->second.service = service;
  }
  std::vector<HostFacts::Program> programs;
  programs.reserve(all.size());
  for (auto& [number, program] : all) programs.push_back(std::move(program));
  return programs;
}

// As the agent decides. Other hosts show all or nothing. A user who started pmcd himself is the
// agent's user, too.
std::string only_user(const std::string& host) {
  constexpr std::string_view kUnix = "unix:";
  const uid_t user = ::geteuid();
  if (user == 0 || !(host == "local:" || host.starts_with(kUnix))) return "";
  char* pcp = nullptr;
  pmGetUsername(&pcp);
  const passwd* found = ::getpwnam(pcp);
  if (found != nullptr && found->pw_uid == user) return "";
  struct stat socket {};
  if (host.starts_with(kUnix) && ::stat(host.c_str() + kUnix.size(), &socket) == 0 &&
      socket.st_uid == user)
    return "";
  found = ::getpwuid(user);
  return found != nullptr ? found->pw_name : std::to_string(user);
}

}  // namespace

SpanHost::~SpanHost() {
  if (context_ >= 0) pmDestroyContext(context_);
}

Result<void> SpanHost::connect() {
  if (context_ >= 0 && !is_lost_) return {};
  int status = context_;
  if (context_ < 0)
    status = context_ = pmNewContext(PM_CONTEXT_HOST, name_.c_str());
  else
    status = pmReconnectContext(context_);
  if (status < 0) return connection_error("cannot connect to pmcd", status);
  is_lost_ = false;
  host_name_ = host_name_of(context_);
  return {};
}

Result<void> SpanHost::ask_for(const std::string& filter) {
  pmUseContext(context_);
  const Result<SpanMetrics> asked = ask_for_spans(filter);
  is_lost_ = !asked;  // until the agent is known to be there
  if (!asked) return asked.error();
  metrics_ = *asked;
  uptime_s_ = 0;
  return {};
}

Result<SpanHost::Fetched> SpanHost::fetch() {
  pmUseContext(context_);
  std::array metrics{metrics_.events, metrics_.backlog, metrics_.uptime};
  pmResult* read = nullptr;
  const int status = pmFetch(static_cast<int>(metrics.size()), metrics.data(), &read);
  if (status < 0) {
    is_lost_ = true;
    return pcp_error("pmcd", status);
  }
  const OwnedResult result(read, pmFreeResult);
  const pmValueSet& events = *result->vset[0];
  const pmValueSet& backlog = *result->vset[1];
  if (events.numval == PM_ERR_NOAGENT || events.numval == PM_ERR_IPC || events.numval == -EPIPE)
    return Error{"its trace agent has gone"};
  if (events.numval < 0) return pcp_error("the trace agent", events.numval);
  Fetched fetched;
  // A new agent does not know our filter.
  fetched.must_ask_again = (status & PMCD_AGENT_CHANGE) != 0;
  if (backlog.numval > 0 && backlog.valfmt == PM_VAL_INSITU)
    fetched.backlog = static_cast<std::uint32_t>(backlog.vlist[0].value.lval);
  const double uptime_s = double_of(*result->vset[2]).value_or(0);
  fetched.is_of_another = uptime_s < std::exchange(uptime_s_, uptime_s);
  if (events.numval == 0) return fetched;
  std::optional<SpanNews> news = read_events(*events.vlist[0].value.pval);
  if (!news) return Error{"the trace agent: what it has sent makes no sense"};
  fetched.news = *std::move(news);
  for (SpanEvent& span : fetched.news.spans)
    if (span.host.empty()) span.host = host_name_;
  return fetched;
}

HostFacts SpanHost::facts() {
  pmUseContext(context_);
  HostFacts facts;
  facts.host = host_name_;
  facts.only_user = only_user(name_);
  const std::vector<double> numbers =
      read_numbers({"trace.agent.clients", "tracing.agent.captures", "tracing.agent.captured"});
  facts.clients = static_cast<std::uint64_t>(numbers[0]);
  facts.captures = static_cast<std::uint64_t>(numbers[1]);
  facts.captured = static_cast<std::uint64_t>(numbers[2]);
  facts.programs = programs();
  for (const auto& [number, tag] : instances_of("trace.transact.count")) facts.tags.push_back(tag);
  return facts;
}

}  // namespace pcp::trace::command
