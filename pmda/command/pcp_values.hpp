// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a few metrics of the current context of libpcp by their names.
//
// Thread: that which has the context.
#pragma once

#include <pcp/pmapi.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "command/archive/sample.hpp"
#include "wire/result.hpp"

namespace pcp::trace::command {

using OwnedResult = std::unique_ptr<pmResult, void (*)(pmResult*)>;

// "WHAT: " and PCP's words for a status.
Error pcp_error(const std::string& what, int status);

// The same of a context that could not be made, and what may help.
Error connection_error(const std::string& what, int status);

// PM_ID_NULL if it is not known.
pmID lookup(const char* name);

// As the host of a context knows itself.
std::string host_name_of(int context);

// Of a context without instances: their numbers; 0 where there is none.
std::vector<double> read_numbers(std::initializer_list<const char*> names);

// The fetched value of a metric of this type without instances; nothing if it has none.
std::optional<double> double_of(const pmValueSet& set);

// A metric's values, by the instance's number.
std::map<int, double> read_numbers_of(const char* name);
std::map<int, std::string> read_texts_of(const char* name);

// The names of a metric's instances.
Instances instances_of(const char* name);

}  // namespace pcp::trace::command
