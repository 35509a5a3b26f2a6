// SPDX-License-Identifier: LGPL-2.1-or-later
// The diagnostic lines that the state flags ask for, on standard error or in a file. Without a flag
// the library prints only complaints. Printing never disturbs the program: no signal, no wait,
// errno is kept. Thread: any.
#pragma once

#include <atomic>
#include <exception>
#include <string>

#include "platform/state.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::client {

// Sets the file for diagnostics; %p is the process id. The string must stay in place.
void send_diagnostics_to(const std::string& file);

void print_line(const std::string& text);

// Prints on standard error, whatever the flags are.
void complain(const std::string& text);

// Complains with make_text(), once in a process and its children.
template <typename MakeText>
void complain_once(std::atomic<bool>& is_said, MakeText make_text) noexcept {
  if (is_said.exchange(true, std::memory_order_relaxed)) return;
  try {
    complain(make_text());
  } catch (const std::exception&) {
  }
}

// Prints make_text() if the flag is set. Ignores exceptions.
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

// The same for each PDU in `bytes`.
void diagnose_pdus(const char* what, std::string_view bytes);

}  // namespace pcp::trace::client
