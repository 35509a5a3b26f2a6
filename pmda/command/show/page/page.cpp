// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/page/page.hpp"

#include <zlib.h>

#include <cstring>

#include "base/base64.hpp"
#include "base/descriptor.hpp"
#include "command/replace_file.hpp"

namespace pcp::trace::command {

namespace {

// Compression makes a page three times smaller, and every browser can unpack it.
Result<std::string> gzipped(std::string bytes) {
  constexpr int kGzip = 16;
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return Error{"no memory to pack it"};
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  // zlib counts in 32 bits; pages stay far below 4 GiB.
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) return Error{"it is too large to be packed"};
  return packed;
}

Result<std::string> page_of(const Model& model, const Comparison* comparison) {
  Result<std::string> packed = gzipped(page_data(model, comparison));
  if (!packed) return packed;
  std::string page(kPageBeforeData);
  encode_base64(*packed, page);  // no base64 character is special in HTML
  page += kPageAfterData;
  return page;
}

}  // namespace

Result<void> write_page(const Model& model, const std::string& path, const Comparison* comparison) {
  const Result<std::string> page = page_of(model, comparison);
  const Result<void> saved = page ? replace_file(path, *page) : page.error();
  return saved ? saved : Error{path + ": cannot write the page: " + saved.error().message};
}

}  // namespace pcp::trace::command
