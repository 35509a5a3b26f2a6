// SPDX-License-Identifier: LGPL-2.1-or-later
// The environment of a traced program: with any values, the options are within the ranges of
// options.hpp. Each variable gives at most one complaint, or one for each word if it takes several.
#include <sys/un.h>

#include <map>
#include <string>

#include "fuzz/input.hpp"
#include "link/client_options.hpp"
#include "platform/state.hpp"
#include "wire/dimensions.hpp"
#include "wire/label_name.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using namespace pcp::trace::client;
using namespace std::chrono_literals;

constexpr const char* kVariables[] = {
    "PCP_TRACE_HOST",       "PCP_TRACE_PORT",    "PCP_TRACE_SOCKET",         "PCP_TRACE_TIMEOUT",
    "PCP_TRACE_REQTIMEOUT", "PCP_TRACE_FLUSH",   "PCP_TRACE_LINGER",         "PCP_TRACE_RECONNECT",
    "PCP_TRACE_QUEUE",      "PCP_TRACE_SERVICE", "PCP_TRACE_LABELS",         "PCP_TRACE_NOAGENT",
    "PCP_RUN_DIR",          "PCP_TRACE_DEBUG",   "PCP_TRACE_MAX_LABEL_SETS", "PMI_RANK",
    "PCP_TRACE_HOLD"};

bool is_wait(std::chrono::nanoseconds time) { return time >= 0ns && time <= 24h; }

void check(const ClientOptions& options, bool has_path) {
  require(options.port > 0);
  require(is_wait(options.connect_timeout) && is_wait(options.request_timeout));
  require(!options.reconnect_delays.empty());
  for (const auto delay : options.reconnect_delays) require(is_wait(delay));
  require(options.flush_interval >= 1ms && options.flush_interval <= 60s);
  require(options.queue_capacity >= 2 && options.queue_capacity <= 1 << 20);
  require(options.hold_bytes >= 64 << 10 && options.hold_bytes <= 256 << 20);
  require(!options.service.empty());
  std::size_t bytes = options.process.size() + options.service.size();
  for (const auto& [name, value] : options.labels) {
    require(pcp::trace::is_dimension_key(name) && !pcp::trace::is_reserved_label(name));
    bytes += name.size() + value.size();
  }
  require(bytes <= 16 * 1024);  // more, and the agent would hang up
  require(options.socket_only == has_path);
  require((options.demanded_state() & ~(kDiagnosticFlags | PMTRACE_STATE_NOAGENT)) == 0);
  require(options.debug_file.empty() || options.debug_file.starts_with('/'));
  require(options.socket_path.size() < sizeof(sockaddr_un::sun_path));
}

}  // namespace

void fuzz::run(Input input) {
  // Each line is a letter for the variable, and its value.
  std::map<std::string_view, std::string> variables{{"PCP_CONF", "/dev/null"}};
  while (!input.empty()) {
    const char* name = kVariables[input.pick(std::size(kVariables))];
    variables[name] = input.c_line();
  }
  std::map<std::string, int> complaints;
  const ClientOptions options = read_environment(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      [&](const std::string& complaint) {
        require(complaint.starts_with("PCP_TRACE_"));
        const std::string name = complaint.substr(0, complaint.find_first_of("= "));
        require(variables.contains(name));
        require(++complaints[name] == 1 || name == "PCP_TRACE_LABELS" || name == "PCP_TRACE_DEBUG");
      });
  check(options,
        variables.contains("PCP_TRACE_SOCKET") && !complaints.contains("PCP_TRACE_SOCKET"));
}
