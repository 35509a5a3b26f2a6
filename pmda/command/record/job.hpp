// SPDX-License-Identifier: LGPL-2.1-or-later
// The parallel job to which this process belongs, as the variables of launchers tell.
#pragma once

#include <functional>
#include <string>

namespace pcp::trace::command {

// getenv(), or a test's replacement.
using Variables = std::function<const char*(const char* name)>;

// The rank of this process in the job, as the launcher gives it; empty if none does.
std::string rank_in_job(const Variables& variables);

// Why a recording of this host lacks a part of the job: it has ranks or nodes elsewhere. Empty if
// it has none, or if another rank says so. The variables are those of this process: a launcher that
// `record` starts tells its ranks only.
std::string what_of_the_job_is_elsewhere(const Variables& variables);

}  // namespace pcp::trace::command
