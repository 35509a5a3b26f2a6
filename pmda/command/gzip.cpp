// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/gzip.hpp"

#include <zlib.h>

namespace pcp::trace::command {

Result<std::string> gzipped(const std::string& bytes, Packing packing) {
  constexpr int kGzip = 16;
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  if (deflateInit2(&stream, packing == Packing::Fast ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION,
                   Z_DEFLATED, MAX_WBITS + kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    return Error{"no memory to pack it"};
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) return Error{"it is too large to be packed"};
  return packed;
}

}  // namespace pcp::trace::command
