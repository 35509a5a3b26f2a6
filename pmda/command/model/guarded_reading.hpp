// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads archives in a process of its own: of some that are damaged PCP's library makes an end of
// the process that it is in, or comes to no end, or takes memory without end.
//
// Thread: the only one.
#pragma once

#include <functional>
#include <string>

#include "wire/result.hpp"

namespace pcp::trace::command {

// Does the work in a child, with bounds, and gives its status. If it does not come to its end: says
// as `who` on standard error which archive is damaged, and gives `damaged`. A signal that has ended
// it and was meant for the user's command ends this process as well.
int guarded(const std::string& who, int damaged, const std::function<int()>& work);

// Gives a context of PCP's library. This archive is read from here on: its size raises the bounds.
Result<int> open_archive(const std::string& path);

}  // namespace pcp::trace::command
