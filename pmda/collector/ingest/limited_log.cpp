// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/limited_log.hpp"

#include "base/clock.hpp"
#include "base/escape.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::size_t kLongestText = 64;

}  // namespace

std::string for_log(std::string_view text) {
  std::string line = escaped(text.substr(0, kLongestText), stays_in_log);
  if (text.size() > kLongestText) line += "...";
  return line;
}

void LimitedLog::say(const std::string& line, Instant now) {
  catch_up(now);
  if (said_ == 0) began_ = now;
  if (said_ < kMostLines) {
    ++said_;
    log_(line);
  } else {
    ++left_out_;
  }
}

void LimitedLog::say(const Peer& peer, const std::string& what) {
  say("client " + peer.describe() + ": " + what, steady_now());
}

void LimitedLog::catch_up(Instant now) {
  if (said_ == 0 || now - began_ < kInterval) return;
  if (left_out_ > 0) log_(std::to_string(left_out_) + " more lines about clients were left out");
  said_ = 0;
  left_out_ = 0;
}

}  // namespace pcp::trace::agent
