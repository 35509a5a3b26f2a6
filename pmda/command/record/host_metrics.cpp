// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/host_metrics.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "command/pcp/recorded_metrics.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

namespace {

pmID recorded_id(pmID id) {
  if (!is_computed(id)) return id;
  return pmID_build(kComputedDomain, pmID_cluster(id) | kRecordedCluster, pmID_item(id));
}

// The descriptors that a started program inherits.
std::set<int> inherited_descriptors() {
  std::set<int> all;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::atoi(each.path().filename().c_str());
    const int flags = ::fcntl(descriptor, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) all.insert(descriptor);
  }
  return all;
}

Result<std::shared_ptr<PcpHost>> connect_to(const std::string& host) {
  auto its = std::make_shared<PcpHost>(host.empty() ? "local:" : host);
  const Result<void> connected = its->connect("cannot connect to pmcd on " + its->name());
  if (connected) return its;
  if (!host.empty()) return connected.error();
  its = std::make_shared<PcpHost>("");
  const Result<void> local = its->connect();
  char** names = nullptr;
  const int count = local ? pmGetChildren("", &names) : 0;
  std::free(names);
  if (count > 0) return its;
  return Error{
      std::string("no pmcd answers on this host, and PCP's agents do not work without it (") +
      (local ? pmErrStr(count) : local.error().message) + "): start pmcd, of PCP's package pcp"};
}

inline pmID id_of(const RecordedMetric& metric) { return metric.description.pmid; }

// Why a metric cannot be recorded; empty: it can.
std::string why_not(const pmDesc& description, const pmValueSet& values) {
  if (description.type == PM_TYPE_STRING) return "is a text, not a number";
  if (!is_number(description.type)) return "has no numbers, but events or other data";
  if (values.numval < 0) return pmErrStr(values.numval);
  return values.numval == 0 ? "has no value now" : "";
}

Result<OwnedResult> read_all(PcpHost& host, const std::vector<pmID>& metrics) {
  if (const Result<void> connected = host.connect(); !connected) return connected.error();
  Result<OwnedResult> read = host.fetch(metrics);
  if (!read) host.disconnect();
  return read;
}

}  // namespace

Result<std::unique_ptr<HostMetrics>> HostMetrics::open(const std::string& host,
                                                       const std::vector<std::string>& wanted,
                                                       Interruption* interruption) {
  const auto work = [host, wanted] { return find(host, wanted); };
  const std::set<int> inherited = inherited_descriptors();
  if (interruption == nullptr) {
    ::setenv("PMCD_CONNECT_TIMEOUT", "2", 0);
    ::setenv("PMCD_REQUEST_TIMEOUT", "2", 0);
    settle_environment();
  }
  auto opened = interruption == nullptr ? std::optional(work()) : interruption->result_of(work);
  for (const int each : inherited_descriptors())
    if (!inherited.contains(each)) ::fcntl(each, F_SETFD, FD_CLOEXEC);
  if (!opened) return Error{"--also: " + host + " does not answer"};
  if (!*opened) return Error{"--also: " + opened->error().message};
  return std::unique_ptr<HostMetrics>(new HostMetrics(**std::move(opened), interruption));
}

Result<HostMetrics::Opened> HostMetrics::find(const std::string& host,
                                              const std::vector<std::string>& wanted) {
  Result<std::shared_ptr<PcpHost>> connected = connect_to(host);
  if (!connected) return connected.error();
  Opened opened{*std::move(connected)};
  for (const std::string& each : wanted) {
    const Result<void> added = add(opened, each);
    if (!added) return Error{printed_name(each) + ": " + added.error().message};
  }
  return opened;
}

// A metric that was named by itself must be readable. Others of a subtree are left out.
Result<void> HostMetrics::add(Opened& opened, const std::string& wanted) {
  const std::string root = wanted.ends_with(".*") ? wanted.substr(0, wanted.size() - 2) : wanted;
  if (is_of_trace_agent(root + ".")) return Error{"is recorded anyway"};
  PcpHost& host = *opened.host;
  const std::string hint =
      host.name().empty() ? "; without a pmcd PCP has few metrics: start pmcd on this host" : "";
  std::vector<std::string> names;
  const int status = add_names_below(root.c_str(), names);
  if (status < 0 || names.empty())
    return Error{
        (status >= 0 || status == PM_ERR_NAME ? "there is no such metric" : pmErrStr(status)) +
        hint};
  std::vector<pmID> ids;
  ids.reserve(names.size());
  for (const std::string& name : names) ids.push_back(lookup(name.c_str()));
  Result<OwnedResult> values = host.fetch(ids);
  if (values) values = host.fetch(ids);  // rates that PCP's library computes need two readings
  if (!values) return values.error();
  std::string left_out;
  std::size_t count = 0;  // of those that are left out
  for (std::size_t i = 0; i < ids.size(); ++i) {
    RecordedMetric metric{names[i], {}};
    const int error = pmLookupDesc(ids[i], &metric.description);
    const pmValueSet& its = *(*values)->vset[i];
    const std::string why = error < 0 ? pmErrStr(error) : why_not(metric.description, its);
    if (!why.empty() && names[i] == root) return Error{why + hint};
    if (!why.empty() && ++count == 1) left_out = printed_name(names[i]) + " " + why;
    if (!why.empty() || std::ranges::find(opened.metrics, ids[i], &id_of) != opened.metrics.end())
      continue;
    opened.metrics.push_back(std::move(metric));
    opened.values += static_cast<std::size_t>(its.numval);
  }
  if (count > 1) left_out += ", and " + std::to_string(count - 1) + " more";
  if (count == ids.size()) return Error{"has nothing to record: " + left_out + hint};
  if (count > 0) opened.left_out += (opened.left_out.empty() ? "" : "; ") + left_out;
  if (opened.values <= kMostValues) return {};
  return Error{"makes " + std::to_string(opened.values) + " values, and a sample has room for " +
               std::to_string(kMostValues) + ": name fewer metrics"};
}

std::string HostMetrics::what_is_missing() const {
  if (lacking_ == 0) return "";
  return std::to_string(lacking_) + " of " + Shown::counted(samples_, "sample") +
         " without values of the host: " + why_lacking_;
}

std::vector<RecordedMetric> HostMetrics::metrics() {
  std::vector<RecordedMetric> all = opened_.metrics;
  for (RecordedMetric& each : all) each.description.pmid = recorded_id(id_of(each));
  return all;
}

std::string HostMetrics::text(unsigned type, unsigned of) {
  return questions_.ask([type, of](PcpHost&) { return help_text_of(type, of); }).value_or("");
}

Instances HostMetrics::instances(pmInDom domain) {
  return questions_.ask([domain](PcpHost&) { return instances_by(pmGetInDom, domain); })
      .value_or(Instances());
}

Result<Sample> HostMetrics::read(std::span<const pmID>, Instant) {
  std::vector<pmID> ids;
  for (const RecordedMetric& each : opened_.metrics) ids.push_back(id_of(each));
  auto read = questions_.ask([ids](PcpHost& host) { return read_all(host, ids); });
  std::string why = !read ? "does not answer" : !*read ? read->error().message : "";
  Sample sample;
  for (const pmID id : ids) sample.push_back({recorded_id(id), PM_VAL_INSITU, {}});
  if (why.empty()) {
    result_ = **std::move(read);
    std::size_t count = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const pmValueSet& its = *result_->vset[i];
      if (its.numval < 0) why = opened_.metrics[i].name + ": " + pmErrStr(its.numval);
      if (its.numval <= 0) continue;
      const auto values = values_of(its);
      sample[i].format = its.valfmt;
      sample[i].values.assign(values.begin(), values.end());
      count += values.size();
    }
    if (count > kMostValues) {
      why = std::to_string(count) + " values, more than a sample has room for";
      for (MetricValues& each : sample) each.values.clear();
    }
  }
  ++samples_;
  if (why.empty()) return sample;
  ++lacking_;
  why_lacking_ = printed_name(why);
  return sample;
}

}  // namespace pcp::trace::command
