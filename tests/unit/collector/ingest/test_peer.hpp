// SPDX-License-Identifier: LGPL-2.1-or-later
// A traced program's end of a connection; a test chooses its bytes. Every wait has a deadline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "support/encoded.hpp"

namespace pcp::trace::agent {

bool has_ipv6();  // whether this machine has it

// The PDUs of a connection, as a program sends and receives them.
class PduStream {
 public:
  virtual ~PduStream() = default;

  struct Pdu {
    wire::PduType type{};
    std::string payload;
  };

  // Sends all bytes. False if the agent has closed.
  virtual bool send(std::string_view bytes) = 0;
  // Sends these bytes with descriptors.
  virtual bool send_with(std::string_view bytes, const std::vector<int>& descriptors) = 0;
  virtual void close() = 0;
  // Reads the rest of the stream. True if the agent has closed it without a reset.
  virtual bool at_end() = 0;
  // Sends these PDUs and a BATCH. True once the agent has acknowledged it.
  bool deliver(std::uint64_t sequence, const std::string& entries, const std::string& pdus = {});
  // Sends PDUs with one BATCH, which has this sequence. True once the agent has acknowledged it.
  bool deliver_batch(std::uint64_t sequence, const std::string& pdus);
  // Sends a BYE without complaint. True once the agent has closed.
  bool leave();

  // The next PDU; nothing at the end of the stream (see at_end) or at the deadline.
  std::optional<Pdu> next();
  // Decodes the next PDU, which must be of this type.
  template <typename Value>
  std::optional<Value> next_as(wire::PduType type,
                               std::optional<Value> (*decode)(std::string_view)) {
    const auto pdu = next();
    return pdu && pdu->type == type ? decode(pdu->payload) : std::nullopt;
  }
  auto next_ack() { return next_as(wire::PduType::Ack, wire::decode_ack); }
  auto next_batch_ack() { return next_as(wire::PduType::BatchAck, wire::decode_batch_ack); }
  auto next_bye() { return next_as(wire::PduType::Bye, wire::decode_bye); }

  // Reads the greeting, says HELLO with this session id and gives the WELCOME.
  std::optional<wire::Welcome> hello(std::uint8_t session);
  std::optional<wire::Welcome> hello(const wire::Hello& hello);

 protected:
  // Receives more. False if there is no more.
  virtual bool fill() = 0;

  std::string received_;
};

class TestPeer final : public PduStream {
 public:
  static TestPeer tcp(std::uint16_t port, const char* address = "127.0.0.1");
  static TestPeer unix_socket(const std::string& path);
  static TestPeer unconnected();  // a Unix socket
  TestPeer(TestPeer&&) = default;
  TestPeer& operator=(TestPeer&&) = default;
  bool connect(const std::string& path);

  bool send(std::string_view bytes) override;
  bool send_with(std::string_view bytes, const std::vector<int>& descriptors) override;
  // Sends until the agent takes no more for now. Gives the number of bytes sent.
  std::size_t send_until_full(std::string_view bytes);
  void half_close();
  void close() override { socket_.reset(); }
  bool at_end() override;

  int descriptor() const { return socket_.get(); }

 private:
  explicit TestPeer(Descriptor socket) : socket_(std::move(socket)) {}
  bool fill() override;

  Descriptor socket_;
  bool end_of_stream_ = false;
  bool reset_ = false;
};

wire::Hello hello_of(std::uint8_t session);

// The acknowledgement of DATA of this type for a client of PCP's own library.
constexpr std::int32_t ack_of(TraceType type) { return static_cast<std::int32_t>(type); }

inline std::string frame(wire::PduType type, std::string_view payload) {
  std::string out;
  wire::append_frame(out, type, wire::kPid, payload);
  return out;
}
inline std::string data_pdu(TraceType type, std::string_view tag, double value,
                            bool wants_ack = false) {
  return wire::pdu_of(wire::append_data, {type, wants_ack, value, tag});
}
inline std::string tags_pdu(const std::vector<wire::TagDefinition>& tags) {
  return wire::pdu_of(wire::append_tags, tags);
}
inline std::string bye_pdu(wire::ByeReason reason) {
  return wire::pdu_of(wire::append_bye, reason);
}

// An entry of a batch: these values of one tag, with a histogram.
std::string entry(std::uint32_t tag_id, TraceType type, const std::vector<double>& values);
std::string batch_pdu(std::uint64_t sequence, const std::string& entries);
// A batch with nothing but transactions in flight.
std::string in_flight_pdu(std::uint64_t sequence, const std::vector<wire::OpenCount>& open,
                          bool anew = false);

}  // namespace pcp::trace::agent
