// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/frame.hpp"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

using Status = FrameReader::Status;
using Pdus = std::vector<std::string>;

void feed(FrameReader& reader, std::string_view bytes) {
  std::copy(bytes.begin(), bytes.end(), reader.prepare(bytes.size()));
  reader.commit(bytes.size());
}

// Gives each frame as the PDU that it was.
Pdus drain(FrameReader& reader) {
  Pdus pdus;
  Frame frame;
  while (reader.next(frame) == Status::Frame)
    append_frame(pdus.emplace_back(), frame.type, frame.pid, frame.payload);
  return pdus;
}

Pdus read_in_pieces(std::string_view stream, const std::vector<std::size_t>& cuts) {
  FrameReader reader(kLeastMaxPduBytes);
  Pdus pdus;
  const auto read = [&](std::string_view piece) {
    feed(reader, piece);
    for (std::string& pdu : drain(reader)) pdus.push_back(std::move(pdu));
  };
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    read(stream.substr(from, cut - from));
    from = cut;
  }
  read(stream.substr(from));
  EXPECT_EQ(reader.pending_bytes(), 0u);
  return pdus;
}

std::string header(std::uint32_t length) {
  std::string bytes;
  append_u32(bytes, length);
  append_u32(bytes, static_cast<std::uint32_t>(PduType::Data));
  append_u32(bytes, kPid);
  return bytes;
}

// Also one without a payload, and one of a type that the reader does not know.
Pdus many_pdus() {
  Pdus pdus = all_pdus();
  pdus.push_back(header(12));
  append_frame(pdus.emplace_back(), PduType{0x9999}, kPid, "?");
  return pdus;
}

TEST(FrameReader, GivesAllPdusHoweverTheyAreSplit) {
  std::string stream;
  for (const std::string& pdu : many_pdus()) stream += pdu;
  std::vector<std::size_t> everywhere;
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    ASSERT_EQ(read_in_pieces(stream, {cut}), many_pdus()) << "cut at " << cut;
    everywhere.push_back(cut);
  }
  EXPECT_EQ(read_in_pieces(stream, everywhere), many_pdus());
}

TEST(FrameReader, RefusesALengthBelowTheHeadersOrAboveTheLimitWithoutWaitingForThePdu) {
  for (const std::uint32_t length : {0u, 1u, 11u, 1025u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    FrameReader reader(1024);
    feed(reader, header(length).substr(0, 4));
    Frame frame;
    EXPECT_EQ(reader.next(frame), Status::Malformed) << length;
    feed(reader, data_pdu());
    EXPECT_EQ(reader.next(frame), Status::Malformed) << length;
  }
}

TEST(FrameReader, AcceptsAPduOfTheLimitItselfAlsoOfAChangedOne) {
  FrameReader reader(1024);
  feed(reader, header(1024) + std::string(1012, 'x'));
  EXPECT_EQ(drain(reader).size(), 1u);
  reader.set_max_pdu_bytes(2048);
  feed(reader, header(2048) + std::string(2036, 'x'));
  EXPECT_EQ(drain(reader).size(), 1u);
}

// Quadratic work would make this test last for minutes.
TEST(FrameReader, ReadsALargeStreamOfSmallPdusAtOnce) {
  const std::string pdu = data_pdu();
  std::string chunk;
  while (chunk.size() < 64 * 1024) chunk += pdu;
  FrameReader reader(kLeastMaxPduBytes);
  std::size_t frames = 0;
  Frame frame;
  for (int i = 0; i < 512; ++i) {
    feed(reader, chunk);
    while (reader.next(frame) == Status::Frame) ++frames;
  }
  EXPECT_EQ(frames, 512 * (chunk.size() / pdu.size()));
}

TEST(FrameReader, KeepsTheBytesOfAnUnfinishedPduWhereTheyAreAsLongAsThereIsRoom) {
  FrameReader reader(kLeastMaxPduBytes);
  char* const room = reader.prepare(4096);
  const std::string begun = header(2000);
  std::memcpy(room, begun.data(), begun.size());
  reader.commit(begun.size());
  Frame frame;
  for (std::size_t i = begun.size(); i < 2000; ++i) {
    ASSERT_EQ(reader.next(frame), Status::NeedMore);
    ASSERT_EQ(reader.prepare(1), room + i);
    room[i] = 'x';
    reader.commit(1);
  }
  EXPECT_EQ(reader.next(frame), Status::Frame);
}

TEST(FrameReader, TakesNoMemoryForAPduThatWasOnlyAnnounced) {
  FrameReader reader(1 << 20);
  feed(reader, header(1 << 20));
  Frame frame;
  EXPECT_EQ(reader.next(frame), Status::NeedMore);
  reader.prepare(4096);
  EXPECT_LE(reader.buffer_bytes(), 2 * 4096u);
}

TEST(FrameReader, HoldsNoMoreThanTheLargestPduAndOneReadAndGivesThemBack) {
  FrameReader reader(1 << 20);
  const std::string pdu = header(1 << 20) + std::string((1 << 20) - kHeaderBytes, 'x');
  std::size_t frames = 0;
  for (std::size_t from = 0; from < pdu.size(); from += 1000) {
    feed(reader, std::string_view(pdu).substr(from, 1000));
    frames += drain(reader).size();
    ASSERT_LE(reader.buffer_bytes(), pdu.size() + 1000);
    ASSERT_EQ(reader.pending_bytes(), frames == 1 ? 0 : std::min(from + 1000, pdu.size()));
  }
  EXPECT_EQ(frames, 1u);
  reader.prepare(4096);
  EXPECT_LE(reader.buffer_bytes(), 4096u);
}

}  // namespace
}  // namespace pcp::trace::wire
