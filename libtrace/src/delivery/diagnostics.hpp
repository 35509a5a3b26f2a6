// SPDX-License-Identifier: LGPL-2.1-or-later
// The diagnostic lines that the state flags ask for, on standard error or in a file. Without a flag
// the library is silent, but for complaints. None of it disturbs the program: no signal, no wait,
// and errno stays. Thread: any.
#pragma once

#include <atomic>
#include <exception>
#include <string>

#include "record/state.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::client {

// Where diagnostics go from now on; %p is the process's number. The string stays where it is.
void send_diagnostics_to(const std::string& file);

void print_line(const std::string& text);

// What nobody has asked for, on standard error.
void complain(const std::string& text);

// Complains of what make_text() gives, once in a process and its children.
template <typename MakeText>
void complain_once(std::atomic<bool>& is_said, MakeText make_text) noexcept {
  if (is_said.exchange(true, std::memory_order_relaxed)) return;
  try {
    complain(make_text());
  } catch (const std::exception&) {
  }
}

// Prints what make_text() gives, if the flag is set. No trouble with it is the caller's.
template <typename MakeText>
inline void diagnose(int flag, MakeText make_text) noexcept {
  if (!has_state(flag)) [[likely]]
    return;
  try {
    print_line(make_text());
  } catch (const std::exception&) {
  }
}

// Shows a PDU's type and length (PDU), and its bytes as well (PDUBUF).
void diagnose_pdu(const char* what, const wire::Frame& pdu);

// The same for PDUs that are about to leave.
void diagnose_pdus(const char* what, std::string_view bytes);

}  // namespace pcp::trace::client
