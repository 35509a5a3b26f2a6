// SPDX-License-Identifier: LGPL-2.1-or-later
// Questions to a host that may not answer. PCP's library may wait for a silent pmcd as long as its
// time-outs, so each question has a thread of its own.
//
// Thread: the main one.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "command/interruption.hpp"
#include "command/pcp/pcp_host.hpp"

namespace pcp::trace::command {

class HostQuestions {
 public:
  // Null: the questions are asked on this thread.
  HostQuestions(std::shared_ptr<PcpHost> host, Interruption* interruption)
      : host_(std::move(host)), interruption_(interruption) {}

  PcpHost& host() const { return *host_; }

  // Returns an optional answer, which must own its data; none after an interruption.
  template <typename Question>
  auto ask(Question question) {
    const auto work = [host = host_, question = std::move(question)] {
      host->use();
      return question(*host);
    };
    auto answer = is_left_                   ? std::nullopt
                  : interruption_ == nullptr ? std::optional(work())
                                             : interruption_->result_of(work);
    is_left_ = !answer;
    return answer;
  }

 private:
  const std::shared_ptr<PcpHost> host_;  // an unanswered question keeps it
  Interruption* const interruption_;
  bool is_left_ = false;  // a question is unanswered
};

}  // namespace pcp::trace::command
