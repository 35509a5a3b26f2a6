// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/http_post.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace pcp::trace::command::otlp {

namespace {

constexpr std::size_t kMostAnswerBytes = 64 * 1024;
constexpr curl_off_t kLongestRetryAfterS = 300;

// Takes all that comes, and keeps the beginning: an answer without end is as good as its status.
std::size_t keep(const char* bytes, std::size_t size, std::size_t count, void* answer) {
  std::string& body = static_cast<Answer*>(answer)->body;
  body.append(bytes, std::min(size * count, kMostAnswerBytes - body.size()));
  return body.size() < kMostAnswerBytes ? size * count : 0;
}

int stop_if_abandoned(void* is_abandoned, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return (*static_cast<const std::function<bool()>*>(is_abandoned))() ? 1 : 0;
}

}  // namespace

HttpPost::HttpPost(const Endpoint& endpoint) : curl_(curl_easy_init()) {
  if (!curl_) throw std::bad_alloc();
  const auto set = [this](CURLoption option, auto value) {
    curl_easy_setopt(curl_.get(), option, value);
  };
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(endpoint.timeout).count();
  set(CURLOPT_URL, endpoint.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_POST, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(milliseconds));
  set(CURLOPT_USERAGENT, "pcp-trace/" PCP_TRACE_VERSION);
  set(CURLOPT_ERRORBUFFER, why_.data());
  set(CURLOPT_WRITEFUNCTION, keep);
  set(CURLOPT_XFERINFOFUNCTION, stop_if_abandoned);
  set(CURLOPT_NOPROGRESS, 0L);
  if (!endpoint.ca_file.empty()) set(CURLOPT_CAINFO, endpoint.ca_file.c_str());
  if (!endpoint.certificate.empty()) set(CURLOPT_SSLCERT, endpoint.certificate.c_str());
  if (!endpoint.key.empty()) set(CURLOPT_SSLKEY, endpoint.key.c_str());
  add_header("Content-Type: application/x-protobuf");
  add_header("Expect:");  // no question before the body
  if (endpoint.is_compressed) add_header("Content-Encoding: gzip");
  for (const std::string& header : endpoint.headers) add_header(header);
  set(CURLOPT_HTTPHEADER, headers_.get());
}

void HttpPost::add_header(const std::string& header) {
  curl_slist* const longer = curl_slist_append(headers_.get(), header.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(headers_.release());
  headers_.reset(longer);
}

Answer HttpPost::post(const std::string& body, const std::function<bool()>& is_abandoned) {
  Answer answer;
  why_.front() = '\0';
  const auto set = [this](CURLoption option, auto value) {
    curl_easy_setopt(curl_.get(), option, value);
  };
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  set(CURLOPT_POSTFIELDS, body.data());
  set(CURLOPT_WRITEDATA, &answer);
  set(CURLOPT_XFERINFODATA, const_cast<std::function<bool()>*>(&is_abandoned));
  const CURLcode code = curl_easy_perform(curl_.get());
  curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  if (answer.status < 200) answer.status = 0;  // of no final answer
  if (answer.status == 0)
    answer.failure = why_.front() != '\0' ? why_.data() : curl_easy_strerror(code);
  curl_off_t seconds = 0;
  curl_easy_getinfo(curl_.get(), CURLINFO_RETRY_AFTER, &seconds);
  if (seconds > 0)
    answer.retry_after = std::chrono::seconds(std::min(seconds, kLongestRetryAfterS));
  return answer;
}

}  // namespace pcp::trace::command::otlp
