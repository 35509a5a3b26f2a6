// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link/client_options.hpp"

#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <limits>
#include <optional>
#include <string_view>

#include "platform/state.hpp"
#include "platform/texts.hpp"
#include "tags/tag_registry.hpp"
#include "wire/capture_filter.hpp"
#include "wire/dimensions.hpp"
#include "wire/label_name.hpp"

namespace pcp::trace::client {

const char* pcp_trace_default_service = nullptr;
namespace {

using std::chrono::nanoseconds;

// A longer timeout is a typing error, and larger numbers could overflow later.
constexpr double kMaxSeconds = 86'400;

// An agent takes 16 KiB of names and labels, in a PDU of 64 KiB. It shows less of each.
constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::size_t kMaxLabelBytes = 12 * 1024;
constexpr std::size_t kBytesBesideLabel = 8;

// Only so much of pcp.conf is searched for a directory.
constexpr std::size_t kMaxConfigurationBytes = 1 << 20;

std::optional<nanoseconds> parse_seconds(std::string_view text) {
  // In C's locale, whatever the program's is. Not std::from_chars, which needs libm. Not static: a
  // fork of another thread meanwhile would leave the lock of a static in the child.
  const locale_t c_locale = ::newlocale(LC_NUMERIC_MASK, "C", nullptr);
  const std::string copy(text);
  char* end = nullptr;
  const double seconds = ::strtod_l(copy.c_str(), &end, c_locale);
  ::freelocale(c_locale);
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
void for_each_part(std::string_view text, char separator, Visit visit) {
  for (;;) {
    const std::size_t end = text.find(separator);
    visit(text.substr(0, end));
    if (end == text.npos) return;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::vector<nanoseconds>> parse_delays(std::string_view text) {
  std::vector<nanoseconds> delays;
  bool good = true;
  for_each_part(text, ',', [&](std::string_view part) {
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
  // As in tags, so that --split can name it.
  if (equals == text.npos || !is_label_name(name) || !is_dimension_key(name) ||
      is_reserved_label(name))
    return {};
  return std::pair{std::string(name), std::string(text.substr(equals + 1))};
}

// Reads variables, and complains of values that it does not take.
class Variables {
 public:
  using Complain = std::function<void(const std::string&)>;

  Variables(const Environment& environment, const Complain& complain)
      : environment_(environment), complain_(complain) {}

  // Null if the variable is not set.
  const char* operator[](const char* name) const { return environment_(name); }

  void complain(const std::string& text) const { complain_(text); }
  void ignore(const char* name, std::string_view text, const char* valid) const {
    complain_(std::string(name) + "=\"" + std::string(text) + "\" ignored: expected " + valid);
  }

  // Sets `target` if the variable is set and `parse` accepts it.
  template <typename Parse, typename Target>
  bool take(const char* name, Parse parse, Target& target, const char* valid) const {
    const char* const text = environment_(name);
    if (text == nullptr) return false;
    if (auto value = parse(std::string_view(text))) {
      target = static_cast<Target>(*std::move(value));
      return true;
    }
    ignore(name, text, valid);
    return false;
  }

 private:
  const Environment& environment_;
  const Complain& complain_;
};

// Labels this process with its rank in a job, from the first rank variable that is set.
void add_rank(ClientOptions& options, const Variables& variables) {
  constexpr std::string_view kRank = "rank";
  for (const auto& label : options.labels)
    if (label.first == kRank) return;
  for (const char* const name : kRankVariables) {
    const char* text = variables[name];
    if (text == nullptr) continue;
    if (const auto rank = parse_number(text, 0, std::numeric_limits<std::uint32_t>::max()))
      options.labels.emplace_back(kRank, std::to_string(*rank));
    return;
  }
}

// An agent hangs up on a process with longer names or labels.
void cut_to_what_agents_take(ClientOptions& options, const char* name_of_service,
                             const Variables& variables) {
  const auto bytes_of = [](std::size_t most) { return std::to_string(most) + " bytes"; };
  options.process = cut_text(options.process, kMaxNameBytes);
  if (options.service.size() > kMaxNameBytes) {
    options.service = cut_text(options.service, kMaxNameBytes);
    variables.complain(std::string(name_of_service) + " is cut after " + bytes_of(kMaxNameBytes));
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
    variables.complain("PCP_TRACE_LABELS is too long: labels beyond " + bytes_of(kMaxLabelBytes) +
                       " are left out");
  options.labels = std::move(kept);
}

// The path stays valid if the program changes directory. Unchanged if getcwd() fails.
std::string absolute(std::string_view path) {
  std::array<char, PATH_MAX> directory;
  if (path.starts_with('/') || ::getcwd(directory.data(), directory.size()) == nullptr)
    return std::string(path);
  return std::string(directory.data()) + '/' + std::string(path);
}

// The whole file; empty if unreadable. O_CLOEXEC: programs started meanwhile do not inherit it.
std::string text_of(const char* path) {
  std::string text;
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  std::array<char, 4096> part;
  ssize_t got;
  while (text.size() < kMaxConfigurationBytes &&
         ((got = ::read(fd, part.data(), part.size())) > 0 || (got < 0 && errno == EINTR)))
    text.append(part.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  ::close(fd);
  return text;
}

// One of PCP's directories: from the environment, else from pcp.conf.
std::string pcps_directory(const Variables& variables, const char* name, const char* usual) {
  if (const char* directory = variables[name]) return directory;
  const char* path = variables["PCP_CONF"];
  const std::string key = std::string(name) + '=';
  std::string directory;
  for_each_part(text_of(path != nullptr ? path : "/etc/pcp.conf"), '\n',
                [&](std::string_view line) {
                  if (directory.empty() && line.starts_with(key))
                    directory = line.substr(key.size());
                });
  return directory.empty() ? usual : directory;
}

auto number(std::uint32_t least, std::uint32_t most) {
  return [=](std::string_view text) { return parse_number(text, least, most); };
}

std::optional<std::string> parse_non_empty(std::string_view text) {
  if (text.empty()) return {};
  return std::string(text);
}

// The kernel limits a socket's path.
std::optional<std::string> parse_socket_path(std::string_view text) {
  if (text.empty() || text.size() >= sizeof(sockaddr_un::sun_path)) return {};
  return std::string(text);
}

std::optional<std::string> parse_mmv_name(std::string_view text) {
  if (!is_mmv_name(text)) return {};
  return std::string(text);
}

std::optional<bool> parse_always(std::string_view text) {
  if (text != "always") return {};
  return true;
}

std::optional<bool> parse_on_or_off(std::string_view text) {
  if (text != "on" && text != "off") return {};
  return text == "on";
}

void take_connection(ClientOptions& options, const Variables& variables) {
  using namespace std::chrono_literals;
  options.reconnect_delays = {5s, 10s, 20s, 40s, 80s};
  constexpr const char* kSeconds = "a number of seconds, more than 0 and at most 86400";
  variables.take("PCP_TRACE_TIMEOUT", parse_seconds, options.connect_timeout, kSeconds);
  variables.take("PCP_TRACE_REQTIMEOUT", parse_seconds, options.request_timeout, kSeconds);
  variables.take("PCP_TRACE_LINGER", parse_seconds, options.last_patience, kSeconds);
  variables.take("PCP_TRACE_RECONNECT", parse_delays, options.reconnect_delays,
                 "seconds, separated by commas, such as 5,10,20");
  const bool has_host =
      variables.take("PCP_TRACE_HOST", parse_non_empty, options.host, "the name of a host");
  const bool has_port = variables.take("PCP_TRACE_PORT", number(1, 65535), options.port,
                                       "a port number from 1 to 65535");
  options.tcp_only = has_host || has_port;
  std::uint32_t flush_ms = 100;
  variables.take("PCP_TRACE_FLUSH", number(1, 60'000), flush_ms, "milliseconds from 1 to 60000");
  options.flush_interval = std::chrono::milliseconds(flush_ms);
  variables.take("PCP_TRACE_QUEUE", number(2, 1 << 20), options.queue_capacity,
                 "a number of records from 2 to 1048576");
}

void take_identity(ClientOptions& options, const Variables& variables) {
  std::uint32_t checked_only = 0;  // label_set_limit() reads the value itself
  variables.take("PCP_TRACE_MAX_LABEL_SETS", parse_label_set_limit, checked_only,
                 "a number from 0 to 100000");
  options.process = program_invocation_short_name;
  options.service = pcp_trace_default_service != nullptr ? pcp_trace_default_service
                                                         : program_invocation_short_name;
  const bool has_service =
      variables.take("PCP_TRACE_SERVICE", parse_non_empty, options.service, "a name");
  if (const char* const labels = variables["PCP_TRACE_LABELS"])
    for_each_part(labels, ',', [&](std::string_view part) {
      if (auto label = parse_label(part))
        options.labels.push_back(*std::move(label));
      else
        variables.ignore("PCP_TRACE_LABELS", part,
                         "name=value with a name of a small letter, then small letters, digits "
                         "and '_', not reserved by PCP");
    });
  add_rank(options, variables);
  cut_to_what_agents_take(options, has_service ? "PCP_TRACE_SERVICE" : "the program's name",
                          variables);
}

void take_mmv(ClientOptions& options, const Variables& variables) {
  if (const char* const name = mmv_name.load(std::memory_order_acquire)) options.mmv = name;
  if (options.mmv.empty())
    variables.take("PCP_TRACE_MMV", parse_mmv_name, options.mmv,
                   "a letter, then letters, digits and '_'");
  if (!options.mmv.empty())
    options.mmv_directory = pcps_directory(variables, "PCP_TMP_DIR", "/var/lib/pcp/tmp") + "/mmv";
  options.no_agent = variables["PCP_TRACE_NOAGENT"] != nullptr;
  options.mmv_only = options.no_agent && !options.mmv.empty();
  if (options.mmv_only) options.no_agent = false;
}

void take_spans(ClientOptions& options, const Variables& variables) {
  variables.take("PCP_TRACE_IDS", parse_always, options.always_ids, "always");
  variables.take("PCP_TRACE_HOLD", number(64 << 10, 256 << 20), options.hold_bytes,
                 "a number of bytes from 65536 to 268435456");
  variables.take("PCP_TRACE_NOTES", parse_on_or_off, options.notes, "on or off");
  if (const char* const capture = variables["PCP_TRACE_CAPTURE"]) {
    if (const auto filter = wire::parse_capture_filter(capture))
      options.capture = wire::text_of(*filter);
    else
      variables.ignore("PCP_TRACE_CAPTURE", capture,
                       ("a filter; " + filter.error().message).c_str());
  }
  for (const auto& [name, text] : {std::pair("TRACEPARENT", &options.traceparent),
                                   std::pair("TRACESTATE", &options.tracestate)})
    if (const char* const header = variables[name]) *text = header;
}

// Takes one word of PCP_TRACE_DEBUG. False if unknown.
bool take_debug_word(ClientOptions& options, std::string_view word) {
  constexpr std::string_view kFile = "file=";
  if (word.starts_with(kFile) && word != kFile) {
    options.debug_file = absolute(word.substr(kFile.size()));
    return true;
  }
  constexpr std::pair<std::string_view, int> kWords[] = {{"api", PMTRACE_STATE_API},
                                                         {"comms", PMTRACE_STATE_COMMS},
                                                         {"pdu", PMTRACE_STATE_PDU},
                                                         {"pdubuf", PMTRACE_STATE_PDUBUF},
                                                         {"all", kDiagnosticFlags}};
  for (const auto& [name, flags] : kWords) {
    if (word != name) continue;
    options.debug_flags |= flags;
    return true;
  }
  return false;
}

void take_debug(ClientOptions& options, const Variables& variables) {
  if (const char* const debug = variables["PCP_TRACE_DEBUG"])
    for_each_part(debug, ',', [&](std::string_view part) {
      if (!take_debug_word(options, part))
        variables.ignore("PCP_TRACE_DEBUG", part, "api, comms, pdu, pdubuf, all or file=PATH");
    });
  if (!options.debug_file.empty() && options.debug_flags == 0)
    variables.complain("PCP_TRACE_DEBUG names a file but nothing to print: add api or comms");
}

void take_socket(ClientOptions& options, const Variables& variables) {
  options.socket_only = variables.take("PCP_TRACE_SOCKET", parse_socket_path, options.socket_path,
                                       "the path of a Unix socket");
  if (!options.socket_only)  // no socket if the path would be too long
    options.socket_path =
        parse_socket_path(pcps_directory(variables, "PCP_RUN_DIR", "/run/pcp") + '/' + kSocketFile)
            .value_or("");
}

}  // namespace

ClientOptions read_environment(const Environment& environment,
                               const std::function<void(const std::string&)>& complain) {
  const Variables variables(environment, complain);
  ClientOptions options;
  take_connection(options, variables);
  take_identity(options, variables);
  take_mmv(options, variables);
  take_spans(options, variables);
  take_debug(options, variables);
  take_socket(options, variables);
  return options;
}

}  // namespace pcp::trace::client
