// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/options.hpp"

#include <locale.h>
#include <stdlib.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include "wire/label_name.hpp"

namespace pcp::trace::client {
namespace {

using std::chrono::nanoseconds;

// A timeout of more than a day is a typing error, and larger numbers would overflow on the way.
constexpr double kMaxSeconds = 86'400;

// Names and labels of a process: an agent takes 16 KiB together, in 64 KiB with what is around
// them. It shows less of each.
constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::size_t kMaxLabelBytes = 12 * 1024;
constexpr std::size_t kBytesBesideLabel = 8;

std::optional<nanoseconds> parse_seconds(std::string_view text) {
  // In C's locale, whatever the program's is. Not by std::from_chars, which brings libm along.
  static const locale_t c_locale = ::newlocale(LC_NUMERIC_MASK, "C", nullptr);
  const std::string copy(text);
  char* end = nullptr;
  const double seconds = ::strtod_l(copy.c_str(), &end, c_locale);
  if (copy.empty() || *end != '\0') return {};
  if (!(seconds > 0) || seconds > kMaxSeconds) return {};
  return nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t least,
                                          std::uint32_t most) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    return {};
  return number;
}

template <typename Visit>
void for_each_part(std::string_view text, Visit visit) {
  for (;;) {
    const std::size_t comma = text.find(',');
    visit(text.substr(0, comma));
    if (comma == text.npos) return;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::vector<nanoseconds>> parse_delays(std::string_view text) {
  std::vector<nanoseconds> delays;
  bool good = true;
  for_each_part(text, [&](std::string_view part) {
    const auto delay = parse_seconds(part);
    if (delay) delays.push_back(*delay);
    good = good && delay;
  });
  if (!good) return {};
  return delays;
}

std::optional<std::pair<std::string, std::string>> parse_label(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == text.npos || !is_label_name(name) || is_reserved_label(name)) return {};
  return std::pair{std::string(name), std::string(text.substr(equals + 1))};
}

// As much of a text as `most` allows, cut between two characters of UTF-8.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [text](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u;
  };
  std::size_t end = most;
  while (end + 3 > most && continues(end)) --end;
  return text.substr(0, continues(end) ? most : end);
}

// An agent hangs up on a process that says more of itself.
void cut_to_what_agents_take(Options& options, const char* name_of_service,
                             const std::function<void(const std::string&)>& complain) {
  const auto bytes_of = [](std::size_t most) { return std::to_string(most) + " bytes"; };
  options.process = cut(options.process, kMaxNameBytes);
  if (options.service.size() > kMaxNameBytes) {
    options.service = cut(options.service, kMaxNameBytes);
    complain(std::string("pcp_trace: ") + name_of_service + " is cut after " +
             bytes_of(kMaxNameBytes));
  }
  std::vector<std::pair<std::string, std::string>> kept;
  std::size_t room = kMaxLabelBytes;
  for (auto& label : options.labels) {
    const std::size_t bytes = label.first.size() + label.second.size() + kBytesBesideLabel;
    if (bytes > room) continue;
    room -= bytes;
    kept.push_back(std::move(label));
  }
  if (kept.size() < options.labels.size())
    complain("pcp_trace: PCP_TRACE_LABELS has too much: labels beyond " + bytes_of(kMaxLabelBytes) +
             " are left out");
  options.labels = std::move(kept);
}

// The directory of the agent's socket: PCP_RUN_DIR from the environment, else from pcp.conf.
std::string run_directory(const Environment& environment) {
  if (const char* directory = environment("PCP_RUN_DIR")) return directory;
  const char* path = environment("PCP_CONF");
  std::ifstream configuration(path != nullptr ? path : "/etc/pcp.conf");
  constexpr std::string_view kKey = "PCP_RUN_DIR=";
  for (std::string line; std::getline(configuration, line);)
    if (line.starts_with(kKey)) return line.substr(kKey.size());
  return "/run/pcp";
}

}  // namespace

const char* pcp_trace_default_service = nullptr;

Options read_options(const Environment& environment,
                     const std::function<void(const std::string&)>& complain) {
  Options options;
  using namespace std::chrono_literals;
  options.reconnect_delays = {5s, 10s, 20s, 40s, 80s};
  options.process = program_invocation_short_name;
  options.service = pcp_trace_default_service != nullptr ? pcp_trace_default_service
                                                         : program_invocation_short_name;

  const auto ignore = [&](const char* name, std::string_view text, const char* valid) {
    complain(std::string("pcp_trace: ") + name + "=\"" + std::string(text) +
             "\" ignored: expected " + valid);
  };
  // Takes a variable over if it is set and `parse` makes something of it.
  const auto take = [&](const char* name, auto parse, auto& target, const char* valid) {
    const char* text = environment(name);
    if (text == nullptr) return false;
    if (auto value = parse(std::string_view(text))) {
      target = static_cast<std::remove_reference_t<decltype(target)>>(*std::move(value));
      return true;
    }
    ignore(name, text, valid);
    return false;
  };
  const auto number = [](std::uint32_t least, std::uint32_t most) {
    return [=](std::string_view text) { return parse_number(text, least, most); };
  };
  const auto non_empty = [](std::string_view text) -> std::optional<std::string> {
    if (text.empty()) return {};
    return std::string(text);
  };
  // The kernel takes at most so many bytes of a socket's path.
  const auto path = [](std::string_view text) -> std::optional<std::string> {
    if (text.empty() || text.size() >= sizeof(sockaddr_un::sun_path)) return {};
    return std::string(text);
  };

  constexpr const char* kSeconds = "a number of seconds, more than 0 and at most 86400";
  take("PCP_TRACE_TIMEOUT", parse_seconds, options.connect_timeout, kSeconds);
  take("PCP_TRACE_REQTIMEOUT", parse_seconds, options.request_timeout, kSeconds);
  take("PCP_TRACE_RECONNECT", parse_delays, options.reconnect_delays,
       "seconds, separated by commas, such as 5,10,20");
  const bool has_host = take("PCP_TRACE_HOST", non_empty, options.host, "the name of a host");
  const bool has_port =
      take("PCP_TRACE_PORT", number(1, 65535), options.port, "a port number from 1 to 65535");
  options.tcp_only = has_host || has_port;
  std::uint32_t flush_ms = 100;
  take("PCP_TRACE_FLUSH", number(1, 60'000), flush_ms, "milliseconds from 1 to 60000");
  options.flush_interval = std::chrono::milliseconds(flush_ms);
  take("PCP_TRACE_QUEUE", number(2, 1 << 20), options.queue_capacity,
       "a number of records from 2 to 1048576");
  const bool has_service = take("PCP_TRACE_SERVICE", non_empty, options.service, "a name");
  if (const char* const labels = environment("PCP_TRACE_LABELS"))
    for_each_part(labels, [&](std::string_view part) {
      if (auto label = parse_label(part))
        options.labels.push_back(*std::move(label));
      else
        ignore("PCP_TRACE_LABELS", part,
               "name=value with a name of letters, digits and '_' that is none of PCP's own");
    });
  cut_to_what_agents_take(options, has_service ? "PCP_TRACE_SERVICE" : "the program's name",
                          complain);
  options.no_agent = environment("PCP_TRACE_NOAGENT") != nullptr;

  options.socket_only =
      take("PCP_TRACE_SOCKET", path, options.socket_path, "the path of a Unix socket");
  if (!options.socket_only)  // no socket is where its path would be too long
    options.socket_path = path(run_directory(environment) + '/' + kSocketFile).value_or("");
  return options;
}

}  // namespace pcp::trace::client
