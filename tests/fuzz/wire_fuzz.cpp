// Feeds the decoders what a hostile peer might send. The first byte chooses: a payload of one type
// of PDU, or raw bytes as they come from a socket. Beside the sanitizers' complaints, a crash is
// also what a decoder lets through although its header promises that it does not.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "wire/batch.hpp"
#include "wire/frame.hpp"
#include "wire/histogram.hpp"
#include "wire/legacy.hpp"

namespace {

using namespace pcp::trace;
using namespace pcp::trace::wire;

void require(bool promise) {
  if (!promise) std::abort();
}

void decode_and_check_batch(std::string_view payload) {
  Batch batch;
  if (!decode_batch(payload, batch)) return;
  Histogram sum;
  for (const DeltaEntry& entry : batch.entries) {
    std::uint64_t total = 0;
    require(Histogram::read_packed_total(entry.histogram, total));
    Histogram one;
    require(one.merge_packed(entry.histogram));
    require(one.total() == total);
    if (sum.total() > Histogram::kMaxTotal - total) continue;
    sum.merge(one);
    std::string packed;
    one.pack(packed);
    require(Histogram().merge_packed(packed));
  }
}

void decode_and_check_tags(std::string_view payload) {
  std::vector<TagDefinition> tags;
  if (!decode_tags(payload, tags)) return;
  for (const TagDefinition& tag : tags) require(is_tag(tag.name));
}

// What was accepted is what is sent for the same values, but for the padding and unused bits.
void decode_and_check_data(std::string_view payload) {
  const auto data = decode_data(payload);
  if (!data) return;
  require(is_tag(data->tag));
  std::string again;
  append_data(again, 1, *data);
  const auto same = decode_data(std::string_view(again).substr(kHeaderBytes));
  require(same && same->tag == data->tag && same->type == data->type);
}

void decode(const Frame& frame) {
  switch (frame.type) {
    case PduType::Ack:
      decode_ack(frame.payload);
      break;
    case PduType::Data:
      decode_and_check_data(frame.payload);
      break;
    case PduType::Hello:
      decode_hello(frame.payload);
      break;
    case PduType::Welcome:
      if (const auto welcome = decode_welcome(frame.payload))
        require(welcome->max_pdu_bytes >= kLeastMaxPduBytes);
      break;
    case PduType::Tags:
      decode_and_check_tags(frame.payload);
      break;
    case PduType::Batch:
      decode_and_check_batch(frame.payload);
      break;
    case PduType::BatchAck:
      decode_batch_ack(frame.payload);
      break;
    case PduType::Bye:
      decode_bye(frame.payload);
      break;
    default:
      break;
  }
}

// Gives the reader the stream in pieces of `piece` bytes, and decodes what comes out.
void read_stream(std::string_view stream, std::size_t piece) {
  FrameReader reader(kLeastMaxPduBytes);
  while (!stream.empty()) {
    const std::string_view part = stream.substr(0, piece);
    stream.remove_prefix(part.size());
    std::memcpy(reader.prepare(part.size()), part.data(), part.size());
    reader.commit(part.size());
    Frame frame;
    FrameReader::Status status;
    while ((status = reader.next(frame)) == FrameReader::Status::Frame) decode(frame);
    if (status == FrameReader::Status::Malformed) return;
    require(reader.pending_bytes() <= kLeastMaxPduBytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const unsigned choice = bytes[0] % 16;
  if (choice < 10) {
    constexpr PduType kTypes[] = {
        PduType::Ack,   PduType::Data,     PduType::Hello, PduType::Welcome, PduType::Tags,
        PduType::Batch, PduType::BatchAck, PduType::Bye,   PduType::Events,  PduType::Control};
    decode({kTypes[choice], 1, input});
  } else {
    read_stream(input, std::size_t{1} << (choice - 10));
  }
  return 0;
}
