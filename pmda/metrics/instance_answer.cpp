// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/instance_answer.hpp"

#include <cstring>
#include <string_view>

#include "metrics/pcp_memory.hpp"

namespace pcp::trace::agent {

namespace {

char* copy_of(const std::string& text) {
  char* const copy = allocate_for_pcp<char>(text.size() + 1);
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

pmInResult* make_result(pmInDom indom, std::size_t count) {
  pmInResult* const result = allocate_for_pcp<pmInResult>(1);
  result->indom = indom;
  result->numinst = static_cast<int>(count);
  return result;
}

template <typename Instances>
int answer(const Instances& instances, pmInDom indom, int number, const char* name,
           pmInResult** result) {
  if (name) {
    const Instance* const found = instances.find(std::string_view(name));
    if (!found) return PM_ERR_INST;
    *result = make_result(indom, 1);
    (*result)->instlist = allocate_for_pcp<int>(1);
    (*result)->instlist[0] = found->number;
    return 0;
  }
  if (number != static_cast<int>(PM_IN_NULL)) {
    const Instance* const found = instances.find(number);
    if (!found) return PM_ERR_INST;
    *result = make_result(indom, 1);
    (*result)->namelist = allocate_for_pcp<char*>(1);
    (*result)->namelist[0] = copy_of(found->name);
    return 0;
  }
  const auto& all = instances.all();
  *result = make_result(indom, all.size());
  (*result)->instlist = allocate_for_pcp<int>(all.size());
  (*result)->namelist = allocate_for_pcp<char*>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    (*result)->instlist[i] = all[i].number;
    (*result)->namelist[i] = copy_of(all[i].name);
  }
  return 0;
}

}  // namespace

int answer_instances(const TagInstances& instances, pmInDom indom, int number, const char* name,
                     pmInResult** result) {
  return answer(instances, indom, number, name, result);
}

int answer_instances(const ClientInstances& instances, pmInDom indom, int number, const char* name,
                     pmInResult** result) {
  return answer(instances, indom, number, name, result);
}

}  // namespace pcp::trace::agent
