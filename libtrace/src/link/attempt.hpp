// SPDX-License-Identifier: LGPL-2.1-or-later
// Which of the agent's addresses to try, and when: decided by times and errors alone.
//
// Thread: the flusher's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "link/client_options.hpp"
#include "link/endpoints.hpp"
#include "link/output.hpp"

namespace pcp::trace::client {

class Attempt {
 public:
  // The seed spreads the attempts of an agent's clients over time.
  Attempt(const ClientOptions& options, std::uint64_t seed)
      : options_(options), random_(static_cast<std::minstd_rand::result_type>(seed)) {}

  // Begins a new attempt, and says which addresses it may use.
  Reach begin(std::uint64_t now_ns);

  // The addresses to try in turn, after begin(). May be none.
  void use(std::vector<Endpoint> endpoints) { endpoints_ = std::move(endpoints); }
  const std::vector<Endpoint>& endpoints() const { return endpoints_; }

  // The next address, after this error at the previous one; 0: there was none. Null: error() ends
  // the attempt.
  const Endpoint* next(int error, std::uint64_t now_ns);
  const Endpoint* current() const { return next_ == 0 ? nullptr : &endpoints_[next_ - 1]; }
  int error() const { return first_error_; }

  // The time at which the current address is given up.
  std::uint64_t deadline_ns() const { return deadline_ns_; }

  // An agent has greeted, and is ready.
  void on_greeting() { was_greeted_ = true; }
  void on_ready();
  bool was_greeted() const { return was_greeted_; }  // ever

  // The attempt, or its connection, has ended with this error; a recording's directory goes for
  // good. Plans the next attempt. False for a look at this host's socket alone, which says nothing
  // about the other addresses.
  bool end(int error, bool is_gone_for_good, std::uint64_t now_ns);
  std::uint64_t next_ns() const { return next_attempt_ns_; }

  // The next attempt need not wait, and tries all addresses.
  void hurry() { next_full_attempt_ns_ = 0; }

 private:
  std::uint64_t next_pause_ns(int error);
  std::uint64_t any_of(std::uint64_t least, std::uint64_t most);

  const ClientOptions& options_;
  std::minstd_rand random_;

  std::vector<Endpoint> endpoints_;
  std::size_t next_ = 0;
  std::uint64_t ends_ns_ = 0;  // for all addresses together
  std::uint64_t deadline_ns_ = kNever;
  int first_error_ = 0;
  bool is_local_ = false;

  bool was_greeted_ = false;
  std::size_t failures_ = 0;                // in a row, of attempts at all addresses
  std::uint64_t next_full_attempt_ns_ = 0;  // before that only this host's socket
  std::uint64_t next_attempt_ns_ = 0;
};

}  // namespace pcp::trace::client
