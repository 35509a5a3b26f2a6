// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/page/page.hpp"

#include <cstring>

#include "base/base64.hpp"
#include "base/descriptor.hpp"
#include "command/gzip.hpp"
#include "command/replace_file.hpp"

namespace pcp::trace::command {

namespace {

Result<std::string> page_of(const Model& model, const Comparison* comparison) {
  // Three times smaller, and every browser can unpack it.
  Result<std::string> packed = gzipped(page_data(model, comparison), Packing::Small);
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
