// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers pmcd's requests for instances: all of a domain, the name of a number, or the number of a
// name.
#pragma once

#include <pcp/pmapi.h>

#include "metrics/client_instances.hpp"
#include "metrics/tag_instances.hpp"

namespace pcp::trace::agent {

// Gives 0 or a PCP error. `name` may be null and `number` PM_IN_NULL, to ask for the other one or,
// if both are so, for all. Ownership: the result is the caller's, made with malloc as PCP wants it.
int answer_instances(const TagInstances& instances, pmInDom indom, int number, const char* name,
                     pmInResult** result);
int answer_instances(const ClientInstances& instances, pmInDom indom, int number, const char* name,
                     pmInResult** result);

}  // namespace pcp::trace::agent
