// SPDX-License-Identifier: LGPL-2.1-or-later
// The address of an OTLP server for one signal, from --otlp and the variables OTEL_EXPORTER_OTLP_*.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace pcp::trace::command::otlp {

enum class Signal { Metrics, Spans };

struct Endpoint {
  std::string url;                   // with the signal's path
  std::vector<std::string> headers;  // "Name: value"
  Duration timeout = std::chrono::seconds(10);
  bool is_compressed = true;
  std::string ca_file;      // empty: the system's
  std::string certificate;  // of this client; empty: none
  std::string key;
};

// Gives a variable's value, or null.
using Environment = std::function<const char*(const char*)>;

// True if variables name a server.
bool names_server(const Environment& environment);

// `base`: the address of --otlp, to which the signal's path is added; nothing: that of the
// variables. An error names the option or the variable, and says what to give.
Result<Endpoint> endpoint_for(Signal signal, const std::optional<std::string>& base,
                              const Environment& environment);

// An address without user name and password, for people.
std::string without_password(const std::string& url);

}  // namespace pcp::trace::command::otlp
