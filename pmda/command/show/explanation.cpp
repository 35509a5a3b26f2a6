// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/explanation.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "command/pcp/pcp_values.hpp"
#include "wire/dimensions.hpp"

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
  const OwnedLabels labels = labels_of_instances(description.indom);
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

// HostFacts::only_user, as the agent decides. Other hosts show all or nothing. A user who started
// pmcd is the agent's user, too.
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

constexpr std::size_t kMostNames = 5;
constexpr std::size_t kNameColumns = 40;

// For 0: "no program".
std::string count_of(std::uint64_t count, const std::string& what) {
  return count == 0 ? "no " + what : Shown::counted(count, what);
}

std::string listed(const std::set<std::string>& names, const Shown& shown) {
  std::string list;
  std::size_t left = kMostNames;
  for (const std::string& name : names) {
    if (left-- == 0) return list + " and " + count_of(names.size() - kMostNames, "other");
    list += (list.empty() ? "" : ", ") + shown.name(name, kNameColumns);
  }
  return list;
}

std::uint64_t matching_programs(const HostFacts& facts, const wire::CaptureFilter& filter) {
  return static_cast<std::uint64_t>(
      std::count_if(facts.programs.begin(), facts.programs.end(), [&](const auto& program) {
        return wire::matches_process(filter, program.pid, program.service, program.process);
      }));
}

std::string of_programs(const HostFacts& facts, const wire::CaptureFilter& filter,
                        const Shown& shown) {
  const std::uint64_t able = facts.programs.size();
  std::string text = count_of(facts.clients, "program") + (facts.clients > 1 ? " are" : " is") +
                     " connected to the agent\n";
  if (facts.clients == 0)
    return text + "PCP_TRACE_DEBUG=api,comms in a program's environment tells whether it tries\n";
  if (able < facts.clients)
    text += count_of(facts.clients - able, "program") +
            (facts.clients - able == 1 ? " has come in the last 5 s, or uses"
                                       : " have come in the last 5 s, or use") +
            " PCP's own library, which has no spans\n";
  const bool names_programs = filter.pid != 0 || filter.service || filter.process;
  if (able == 0 || !names_programs) return text;
  const std::uint64_t matching = matching_programs(facts, filter);
  text += "the filter matches " + count_of(matching, "program");
  if (matching > 0) return text + "\n";
  std::set<std::string> there;
  for (const HostFacts::Program& program : facts.programs)
    there.insert(filter.pid != 0 ? std::to_string(program.pid) : program.service);
  return text + (filter.pid != 0 ? "; pids: " : "; services: ") + listed(there, shown) + "\n";
}

// Programs compare tag= with the tag of the begin, which may have fewer labels than the tags there.
constexpr const char* kOfLateLabels =
    "tag= does not know labels that come after the begin: write tag=NAME, and choose with"
    " label.KEY=VALUE of pcp-trace spans\n";

bool waits_for_deaths(const wire::CaptureFilter& filter) {
  return (filter.reasons & wire::kIfDied) != 0;
}

std::string of_boxes(const HostFacts& facts) {
  if (facts.boxes >= facts.clients) return "";
  return "the agent has the black box of " +
         (facts.boxes == 0 ? "none" : Shown::count(static_cast<double>(facts.boxes))) +
         " of them: programs that are connected by TCP have none, nor have those with an older"
         " library\n";
}

enum class Match { None, OnlyWithLabels, Some };

Match match_of(const wire::CaptureFilter& filter, const std::set<std::string>& tags) {
  const auto matches = [&](const auto& tag) { return wire::matches_tag(filter, tag); };
  if (std::ranges::none_of(tags, matches)) return Match::None;
  return std::ranges::any_of(tags, matches, bare_name) ? Match::Some : Match::OnlyWithLabels;
}

std::string unmatched(const std::set<std::string>& tags, const Shown& shown) {
  return "the filter matches none of the tags there: " + listed(tags, shown) + "\n";
}

std::string when(const wire::CaptureFilter& filter) {
  std::string conditions;
  const auto add = [&conditions](bool is_asked, const char* condition) {
    if (is_asked) conditions.append(conditions.empty() ? ", if they " : " and ").append(condition);
  };
  add(filter.slower_ns > 0, "are slow enough");
  add((filter.reasons & wire::kIfFailed) != 0, "fail");
  add((filter.reasons & wire::kIfWanted) != 0, "are wanted by their program, pmtrace_want()");
  return conditions;
}

std::string of_tags(const HostFacts& facts, const wire::CaptureFilter& filter, const Shown& shown) {
  if (facts.tags.empty()) return "no transaction has been traced there yet\n";
  const std::set<std::string> tags(facts.tags.begin(), facts.tags.end());
  const Match match = match_of(filter, tags);
  if (match == Match::None) return unmatched(tags, shown);
  const bool is_some = match == Match::Some;
  // Tags also match for another user's programs.
  std::string text = facts.only_user.empty() ? "tags match" : "";
  if (waits_for_deaths(filter))
    return text + (text.empty() ? "" : "\n") + (is_some ? "" : kOfLateLabels);
  return text + (text.empty() ? "" : "; ") + "transactions are shown when they end" +
         (filter.reasons != 0     ? when(filter)
          : filter.slower_ns == 0 ? ""
          : is_some               ? ", and none was slow enough"
                                  : ", if they were slow enough") +
         (filter.share < wire::kWholeShare ? ", and share= takes few of them" : "") + "\n" +
         (is_some ? "" : kOfLateLabels);
}

}  // namespace

HostFacts read_facts(const PcpHost& host) {
  host.use();
  HostFacts facts;
  facts.host = host.host_name();
  facts.only_user = only_user(host.name());
  facts.clients = static_cast<std::uint64_t>(read_number("trace.agent.clients"));
  facts.boxes = static_cast<std::uint64_t>(read_number("trace.agent.black_boxes.held"));
  facts.captures = static_cast<std::uint64_t>(read_number("tracing.agent.captures"));
  facts.captured = static_cast<std::uint64_t>(read_number("tracing.agent.captured"));
  facts.programs = programs();
  for (const auto& [number, tag] : instances_of("trace.transact.count")) facts.tags.push_back(tag);
  return facts;
}

std::string explanation(const HostFacts& facts, const wire::CaptureFilter& filter,
                        const Shown& shown) {
  std::string text = of_programs(facts, filter, shown);
  if (!facts.only_user.empty())
    text += "you see only programs of your own user (" + shown.name(facts.only_user, kNameColumns) +
            "), root and PCP's user see all\n";
  if (waits_for_deaths(filter)) text += of_boxes(facts);
  const bool is_for_others = !facts.programs.empty() && matching_programs(facts, filter) == 0;
  if (facts.clients > 0 && !is_for_others) text += of_tags(facts, filter, shown);
  text += "captures of all users there: " + Shown::count(static_cast<double>(facts.captures)) +
          "; they have brought " + count_of(facts.captured, "span") + " since the agent's start\n";
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return (waits_for_deaths(filter)
              ? "waiting: a request is shown when a process dies in which it is open. On "
              : "no span has arrived yet. On ") +
         shown.name(facts.host, kNameColumns) + ":\n" + lines;
}

std::string unmatched_filter(const std::string& filter, const std::vector<Tag>& tags,
                             const Shown& shown) {
  const auto parsed = wire::parse_capture_filter(filter);
  std::set<std::string> names;
  for (const Tag& tag : tags)
    if (tag.type == TraceType::Transact) names.insert(tag.name);
  if (!parsed || names.empty()) return "";
  const Match match = match_of(*parsed, names);
  return match == Match::None ? unmatched(names, shown) : match == Match::Some ? "" : kOfLateLabels;
}

}  // namespace pcp::trace::command
