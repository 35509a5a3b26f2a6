// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/endpoint.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

namespace pcp::trace::command::otlp {

namespace {

constexpr std::string_view kPrefix = "OTEL_EXPORTER_OTLP_";

struct SignalWords {
  const char* path;
  const char* variable;
};

SignalWords names_of(Signal signal) {
  return signal == Signal::Metrics ? SignalWords{"/v1/metrics", "METRICS_"}
                                   : SignalWords{"/v1/traces", "TRACES_"};
}

// A variable's name and value.
struct Setting {
  std::string name;
  std::string value;
};

std::optional<Setting> read(const Environment& environment, std::string name) {
  const char* const value = environment(name.c_str());
  if (value == nullptr || *value == '\0') return {};
  return Setting{std::move(name), value};
}

// A signal's own variable comes first.
std::optional<Setting> read(const Environment& environment, Signal signal, const char* what) {
  const std::string prefix(kPrefix);
  if (auto own = read(environment, prefix + names_of(signal).variable + what)) return own;
  return read(environment, prefix + what);
}

using OwnedUrl = std::unique_ptr<CURLU, void (*)(CURLU*)>;

OwnedUrl parsed(const std::string& url) {
  OwnedUrl made(curl_url(), curl_url_cleanup);
  if (!made || curl_url_set(made.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) made.reset();
  return made;
}

Result<void> check(const std::string& url) {
  const bool has_scheme = url.starts_with("http://") || url.starts_with("https://");
  if (has_scheme && parsed(url)) return {};
  return Error{"\"" + without_password(url) +
               "\" is no address; wanted is http://HOST:PORT or https://HOST:PORT, such as "
               "http://localhost:4318"};
}

// The address for a base, whose path may end in a slash.
Result<std::string> with_path(std::string base, Signal signal) {
  while (base.ends_with('/')) base.pop_back();
  for (const char* const path : {"/v1/metrics", "/v1/traces"})
    if (base.ends_with(path))
      return Error{"leave out " + std::string(path) + ": it is added for each signal"};
  if (base.find_first_of("?#") != std::string::npos)
    return Error{"the address has a ? or #; each signal's path could not be added"};
  return base + names_of(signal).path;
}

Error named(const std::string& name, const Error& error) { return {name + ": " + error.message}; }

Result<std::string> url_for(Signal signal, const std::optional<std::string>& base,
                            const Environment& environment) {
  std::string name = "--otlp";
  std::string url;
  if (base) {
    url = *base;
  } else if (const auto own =
                 read(environment, std::string(kPrefix) + names_of(signal).variable + "ENDPOINT")) {
    const Result<void> checked = check(own->value);
    return checked ? Result<std::string>(own->value) : named(own->name, checked.error());
  } else if (auto common = read(environment, std::string(kPrefix) + "ENDPOINT")) {
    name = common->name;
    url = common->value;
  } else {
    return Error{"name the server: --otlp http://HOST:4318"};
  }
  if (const Result<void> checked = check(url); !checked) return named(name, checked.error());
  Result<std::string> whole = with_path(std::move(url), signal);
  return whole ? whole : named(name, whole.error());
}

// Decodes %XX; other text stays.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 1] + 2, byte, 16).ptr == &text[i + 1] + 2) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// A header must not smuggle in another one.
Result<std::vector<std::string>> headers_of(std::string_view list) {
  std::vector<std::string> headers;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view each = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (each.empty()) continue;
    const std::size_t sign = each.find('=');
    const std::string name(trimmed(each.substr(0, std::min(sign, each.size()))));
    const std::string value =
        sign == each.npos ? "" : percent_decoded(trimmed(each.substr(sign + 1)));
    const auto is_in_name = [](unsigned char c) { return c > ' ' && c < 0x7f && c != ':'; };
    const auto is_in_value = [](unsigned char c) { return c >= ' ' && c != 0x7f; };
    if (sign == each.npos || name.empty() || !std::all_of(name.begin(), name.end(), is_in_name) ||
        !std::all_of(value.begin(), value.end(), is_in_value))
      return Error{"wanted are headers as in api-key=abc,other=x%20y"};
    headers.push_back(name);
    headers.back().append(": ").append(value);
  }
  return headers;
}

Result<Duration> timeout_of(const std::string& text) {
  unsigned milliseconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  if (error != std::errc() || end != text.data() + text.size() || milliseconds == 0)
    return Error{"\"" + text + "\" is no time in milliseconds, such as 10000"};
  return Duration(std::chrono::milliseconds(milliseconds));
}

}  // namespace

bool names_server(const Environment& environment) {
  return read(environment, Signal::Metrics, "ENDPOINT") ||
         read(environment, Signal::Spans, "ENDPOINT");
}

Result<Endpoint> endpoint_for(Signal signal, const std::optional<std::string>& base,
                              const Environment& environment) {
  Endpoint made;
  Result<std::string> url = url_for(signal, base, environment);
  if (!url) return url.error();
  made.url = *std::move(url);
  if (const auto protocol = read(environment, signal, "PROTOCOL");
      protocol && !base && protocol->value != "http/protobuf")
    return Error{protocol->name +
                 ": pcp-trace speaks http/protobuf only, usually at port 4318, "
                 "not \"" +
                 protocol->value + "\"; name that server with --otlp URL"};
  if (const auto list = read(environment, signal, "HEADERS")) {
    Result<std::vector<std::string>> headers = headers_of(list->value);
    if (!headers) return named(list->name, headers.error());
    made.headers = *std::move(headers);
  }
  if (const auto text = read(environment, signal, "TIMEOUT")) {
    const Result<Duration> timeout = timeout_of(text->value);
    if (!timeout) return named(text->name, timeout.error());
    made.timeout = *timeout;
  }
  if (const auto word = read(environment, signal, "COMPRESSION")) {
    if (word->value != "gzip" && word->value != "none")
      return Error{word->name + ": \"" + word->value + "\" is unknown; there are gzip and none"};
    made.is_compressed = word->value == "gzip";
  }
  const auto text_of = [&](const char* what) {
    const auto set = read(environment, signal, what);
    return set ? set->value : std::string();
  };
  made.ca_file = text_of("CERTIFICATE");
  made.certificate = text_of("CLIENT_CERTIFICATE");
  made.key = text_of("CLIENT_KEY");
  return made;
}

std::string without_password(const std::string& url) {
  const std::size_t host = url.find("://") == url.npos ? 0 : url.find("://") + 3;
  const std::size_t path = std::min(url.find_first_of("/?#", host), url.size());
  const std::size_t at = url.rfind('@', path);
  if (at == url.npos || at < host) return url;
  return url.substr(0, host) + url.substr(at + 1);
}

}  // namespace pcp::trace::command::otlp
