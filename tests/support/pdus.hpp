// SPDX-License-Identifier: LGPL-2.1-or-later
// Splits a stream of bytes into PDUs, which may be kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/frame.hpp"

namespace pcp::trace {

struct KeptPdu {
  wire::PduType type;
  std::string payload;
};

inline std::vector<KeptPdu> take_pdus(wire::FrameReader& reader, std::string_view bytes) {
  bytes.copy(reader.prepare(bytes.size()), bytes.size());
  reader.commit(bytes.size());
  std::vector<KeptPdu> pdus;
  for (wire::Frame pdu; reader.next(pdu) == wire::FrameReader::Status::Frame;)
    pdus.push_back({pdu.type, std::string(pdu.payload)});
  return pdus;
}

}  // namespace pcp::trace
