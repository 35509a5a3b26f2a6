// SPDX-License-Identifier: LGPL-2.1-or-later
// Explains in a few lines why no spans come from a host.
#pragma once

#include <string>

#include "command/report/shown.hpp"
#include "command/spans/host_facts.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

std::string explanation(const HostFacts& facts, const wire::CaptureFilter& filter,
                        const Shown& shown);

}  // namespace pcp::trace::command
