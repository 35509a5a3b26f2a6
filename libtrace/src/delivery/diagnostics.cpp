// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/diagnostics.hpp"

#include <unistd.h>

#include <cstdio>

#include "record/no_cancellation.hpp"

namespace pcp::trace::client {
namespace {

std::string hex(std::uint32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%04x", number);
  return text;
}

std::string dump(std::string_view bytes) {
  std::string text;
  char byte[4];
  for (const char c : bytes.substr(0, 64)) {
    std::snprintf(byte, sizeof byte, " %02x", static_cast<unsigned char>(c));
    text += byte;
  }
  return bytes.size() > 64 ? text + " ..." : text;
}

}  // namespace

void print_line(const std::string& text) {
  const NoCancellation guard;
  // One write, so that lines of several threads do not mix.
  const std::string line = "pcp_trace: " + text + '\n';
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void diagnose_pdu(const char* what, const wire::Frame& pdu) {
  if (!has_state(PMTRACE_STATE_PDU | PMTRACE_STATE_PDUBUF)) return;
  std::string line = std::string("PDU ") + what + ": type " +
                     hex(static_cast<std::uint32_t>(pdu.type)) + ", " +
                     std::to_string(pdu.payload.size() + wire::kHeaderBytes) + " bytes";
  if (has_state(PMTRACE_STATE_PDUBUF)) line += ", payload" + dump(pdu.payload);
  print_line(line);
}

void diagnose_pdus(const char* what, std::string_view bytes) {
  if (!has_state(PMTRACE_STATE_PDU | PMTRACE_STATE_PDUBUF)) return;
  while (bytes.size() >= wire::kHeaderBytes) {
    const std::size_t length = wire::read_u32(bytes);
    const auto type = static_cast<wire::PduType>(wire::read_u32(bytes.substr(4)));
    diagnose_pdu(what, {type, wire::read_u32(bytes.substr(8)),
                        bytes.substr(wire::kHeaderBytes, length - wire::kHeaderBytes)});
    bytes.remove_prefix(length);
  }
}

}  // namespace pcp::trace::client
