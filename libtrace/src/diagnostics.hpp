// The diagnostic lines that the state flags ask for, on standard error. Without a flag the library
// is silent.
#pragma once

#include <string>

#include "state.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::client {

void print_line(const std::string& text);

inline void diagnose(int flag, const std::string& text) {
  if (has_state(flag)) print_line(text);
}

// Shows a PDU's type and length (PDU), and its bytes as well (PDUBUF).
void diagnose_pdu(const char* what, const wire::Frame& pdu);

// The same for PDUs that are about to leave.
void diagnose_pdus(const char* what, std::string_view bytes);

}  // namespace pcp::trace::client
