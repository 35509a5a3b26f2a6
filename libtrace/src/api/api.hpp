// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the files that define the API.
#pragma once

#include "pcp/trace.h"

// Everything else in the library is hidden.
#define PMTRACE_EXPORT [[gnu::visibility("default")]]

// For the C++ and Fortran bindings; not in the C header.
extern "C" void pmtrace_complain_once(const char* text);
