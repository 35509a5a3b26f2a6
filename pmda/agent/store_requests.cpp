// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/store_requests.hpp"

#include <cstdlib>
#include <string>
#include <utility>

namespace pcp::trace::agent {

StoreRequests::StoreRequests(Metrics& metrics, Privileges privileges,
                             std::function<void(Time)> reset)
    : metrics_(metrics), privileges_(std::move(privileges)), reset_(std::move(reset)) {}

int StoreRequests::store(const pmResult& values, int context, Time now) {
  for (int i = 0; i < values.numpmid; ++i) {
    const int status = store(*values.vset[i], context, now);
    if (status < 0) return status;
  }
  return 0;
}

int StoreRequests::store(const pmValueSet& values, int context, Time now) {
  const Metric* const metric = metrics_.find(values.pmid);
  if (!metric) return PM_ERR_PMID;
  if (metric->store == Store::Refused || !privileges_.may_store(context)) return PM_ERR_PERMISSION;
  if (values.numval != 1) return PM_ERR_BADSTORE;
  if (metric->store != Store::Reset) return replace_debug_options(values, metric->type());

  reset_(now);
  return 0;
}

int StoreRequests::replace_debug_options(const pmValueSet& values, int type) {
  pmAtomValue atom{};
  const int status = pmExtractValue(values.valfmt, &values.vlist[0], type, &atom, type);
  if (status < 0) return status;
  std::string options;
  if (type == PM_TYPE_STRING) {
    options = atom.cp;
    std::free(atom.cp);
  } else {
    options = std::to_string(atom.l);
  }
  return metrics_.debug_options().replace(options) ? 0 : PM_ERR_CONV;
}

}  // namespace pcp::trace::agent
