// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers pmcd's requests for instances: all of a domain, a number's name, or a name's number.
#pragma once

#include "metrics/client_instances.hpp"
#include "metrics/pmapi.hpp"
#include "metrics/tag_instances.hpp"

namespace pcp::trace::agent {

// Returns 0 or a PCP error. A null `name` asks for the number's name; with `number` PM_IN_NULL,
// too, for all instances. Ownership: the caller's, allocated with malloc for PCP.
int answer_instances(const TagInstances& instances, pmInDom indom, int number, const char* name,
                     pmInResult** result);
int answer_instances(const ClientInstances& instances, pmInDom indom, int number, const char* name,
                     pmInResult** result);

}  // namespace pcp::trace::agent
