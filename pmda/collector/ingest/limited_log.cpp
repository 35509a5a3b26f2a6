// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/limited_log.hpp"

#include "collector/engine/escape.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::size_t kLongestText = 64;

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kLongestText)) {
    if (c >= 0x20 && c < 0x7f && c != '\\' && c != '"')
      out += c;
    else
      append_escaped(out, c);
  }
  if (text.size() > kLongestText) out += "...";
  return out;
}

void LimitedLog::say(const std::string& line, Time now) {
  catch_up(now);
  if (said_ == 0) began_ = now;
  if (said_ < kMostLines) {
    ++said_;
    log_(line);
  } else {
    ++left_out_;
  }
}

void LimitedLog::catch_up(Time now) {
  if (said_ == 0 || now - began_ < kInterval) return;
  if (left_out_ > 0) log_(std::to_string(left_out_) + " more lines about clients were left out");
  said_ = 0;
  left_out_ = 0;
}

}  // namespace pcp::trace::agent
