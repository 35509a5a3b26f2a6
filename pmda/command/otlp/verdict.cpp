// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include <protozero/pbf_reader.hpp>

#include "command/otlp/otlp_fields.hpp"

namespace pcp::trace::command::otlp {

namespace {

constexpr std::chrono::seconds kFirstPause(1);
constexpr double kLongestPauseS = 30;
constexpr std::size_t kLongestWhy = 200;

// A protobuf body that is damaged says nothing.
template <typename Read>
void read_message(const std::string& body, Read read) {
  try {
    protozero::pbf_reader message(body);
    while (message.next()) read(message);
  } catch (const std::exception&) {  // protozero's exceptions, all of them for wrong bytes
  }
}

void read_partial_success(const std::string& body, Verdict& verdict) {
  read_message(body, [&](protozero::pbf_reader& response) {
    if (response.tag() != kResponsePartialSuccess) return response.skip();
    read_message(response.get_string(), [&](protozero::pbf_reader& partial) {
      if (partial.tag() == kPartialRejected)
        verdict.rejected =
            static_cast<std::uint64_t>(std::max(partial.get_int64(), std::int64_t{0}));
      else if (partial.tag() == kPartialMessage)
        verdict.why = partial.get_string();
      else
        partial.skip();
    });
  });
}

// The message of a protobuf Status, or the first line of a text.
std::string message_of(const std::string& body) {
  std::string message;
  read_message(body, [&](protozero::pbf_reader& status) {
    if (status.tag() == kStatusMessage &&
        status.wire_type() == protozero::pbf_wire_type::length_delimited)
      message = status.get_string();
    else
      status.skip();
  });
  if (message.empty()) message = body.substr(0, body.find_first_of("\r\n"));
  return message;
}

}  // namespace

Verdict verdict_of(const Answer& answer) {
  Verdict verdict;
  if (answer.status == 0) {
    verdict = {Fate::Retry, 0, answer.failure};
  } else if (answer.status / 100 == 2) {
    verdict.fate = Fate::Accepted;
    read_partial_success(answer.body, verdict);
  } else {
    const bool may_be_retried = answer.status == 429 || answer.status == 502 ||
                                answer.status == 503 || answer.status == 504;
    const std::string message = message_of(answer.body);
    verdict = {
        may_be_retried ? Fate::Retry : Fate::Refused, 0,
        "HTTP status " + std::to_string(answer.status) + (message.empty() ? "" : ": " + message)};
  }
  verdict.why.resize(std::min(verdict.why.size(), kLongestWhy));
  return verdict;
}

Duration pause_after(unsigned attempts, std::optional<Duration> retry_after, double random) {
  const double longest =
      std::min(std::ldexp(1.0, static_cast<int>(std::min(attempts, 10U)) - 1), kLongestPauseS);
  const Duration own = std::chrono::duration_cast<Duration>(kFirstPause * longest);
  if (retry_after) return *retry_after + std::chrono::duration_cast<Duration>(kFirstPause * random);
  return own / 2 + std::chrono::duration_cast<Duration>(own / 2 * random);
}

}  // namespace pcp::trace::command::otlp
