// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a few metrics by name, in libpcp's current context.
//
// Thread: the context's.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "command/pcp/sample.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

using OwnedResult = std::unique_ptr<pmResult, void (*)(pmResult*)>;

// "WHAT: " and PCP's message for a status.
Error pcp_error(const std::string& what, int status);

// The same for a failed connection, with advice.
Error connection_error(const std::string& what, int status);

// PM_ID_NULL if unknown.
pmID lookup(const char* name);

// The context's host name, as the host gives it.
std::string host_name_of(int context);

// Values of metrics without instances; 0 for a missing one.
std::vector<double> read_numbers(std::initializer_list<const char*> names);

// The value of a metric without instances; nothing if there is none.
std::optional<double> double_of(const pmValueSet& set);

// A metric's values by instance number.
std::map<int, double> read_numbers_of(const char* name);
std::map<int, std::string> read_texts_of(const char* name);

// The names of a metric's instances.
Instances instances_of(const char* name);

}  // namespace pcp::trace::command
