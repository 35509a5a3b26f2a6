// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/adopt_numbers.hpp"

#include <array>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <utility>

#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

namespace {

// One metric of each type, to read its instances; and one that PCP's agent does not have.
constexpr std::array<const char*, kTraceTypes.size()> kCounts{
    "trace.transact.count", "trace.point.count", "trace.observe.count", "trace.counter.count"};
constexpr const char* kOurs = "trace.agent.uptime";

// The next functions return a negative PCP error on failure.

int look_up(const char* metric) {
  pmID pmid = 0;
  return pmLookupName(1, &metric, &pmid);
}

int instances_of(const char* metric, int** numbers, char*** names) {
  pmID pmid = 0;
  int status = pmLookupName(1, &metric, &pmid);
  pmDesc description{};
  if (status >= 0) status = pmLookupDesc(pmid, &description);
  return status < 0 ? status : pmGetInDom(description.indom, numbers, names);
}

int read_numbers(TraceType type, std::vector<KnownInstance>& out) {
  int* numbers = nullptr;
  char** names = nullptr;
  const int count = instances_of(kCounts[index_of(type)], &numbers, &names);
  for (int i = 0; i < count; ++i) {
    if (is_tag(names[i]) && numbers[i] > 0) out.push_back({type, names[i], numbers[i], 0});
  }
  if (count > 0) {
    std::free(numbers);
    std::free(names);
  }
  return count;
}

int read_numbers(std::vector<KnownInstance>& out) {
  for (const TraceType type : kTraceTypes) {
    if (const int status = read_numbers(type, out); status < 0) return status;
  }
  return 0;
}

bool give_up(const std::string& why) {
  std::cerr << "pmdatrace: cannot adopt the numbers: " << why << std::endl;
  return false;
}

}  // namespace

std::vector<KnownInstance> merge_numbers(std::vector<KnownInstance> running,
                                         std::vector<KnownInstance> filed) {
  std::set<std::pair<TraceType, std::string>> tags;
  std::set<std::pair<TraceType, std::int32_t>> numbers;
  for (const KnownInstance& known : running) {
    tags.insert({known.type, known.tag});
    numbers.insert({known.type, known.instance});
  }
  for (KnownInstance& known : filed) {
    if (!tags.contains({known.type, known.tag}) && !numbers.contains({known.type, known.instance}))
      running.push_back(std::move(known));
  }
  return running;
}

bool adopt_numbers(const InstanceFile& file, InstanceFile::Contents filed) {
  const int context = pmNewContext(PM_CONTEXT_HOST, "local:");
  if (context < 0) return give_up(std::string("pmcd: ") + pmErrStr(context));
  if (look_up(kOurs) >= 0) return true;  // our own agent already runs, and keeps its numbers
  std::vector<KnownInstance> running;
  if (const int status = read_numbers(running); status < 0)
    return give_up(std::string("PCP's trace agent: ") + pmErrStr(status));
  const std::size_t count = running.size();
  const Result<void> saved =
      file.save(merge_numbers(std::move(running), std::move(filed.instances)), filed.reserved);
  if (!saved) return give_up(saved.error().message);
  std::cout << "Adopted the numbers of " << count << " tags from PCP's trace agent." << std::endl;
  return true;
}

}  // namespace pcp::trace::agent
