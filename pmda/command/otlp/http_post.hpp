// SPDX-License-Identifier: LGPL-2.1-or-later
// Posts requests to an OTLP server over one connection. Proxies are those of the environment, as
// for curl.
//
// Thread: one.
#pragma once

#include <curl/curl.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "command/otlp/endpoint.hpp"

namespace pcp::trace::command::otlp {

struct Answer {
  long status = 0;  // of HTTP; 0: none came
  std::string body;
  std::optional<Duration> retry_after;
  std::string failure;  // why there is no status
};

class HttpPost {
 public:
  explicit HttpPost(const Endpoint& endpoint);

  // Asks `is_abandoned` now and then, and ends soon after it gives true.
  Answer post(const std::string& body, const std::function<bool()>& is_abandoned);

 private:
  struct Free {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  void add_header(const std::string& header);

  std::unique_ptr<CURL, Free> curl_;
  std::unique_ptr<curl_slist, Free> headers_;
  std::array<char, CURL_ERROR_SIZE> why_{};
};

}  // namespace pcp::trace::command::otlp
