// SPDX-License-Identifier: LGPL-2.1-or-later
// What the files that define the API have in common.
#pragma once

#include "pcp/trace.h"

// Everything else in the library is hidden.
#define PMTRACE_EXPORT [[gnu::visibility("default")]]

// Of bindings, C++'s and Fortran's; in no header of C.
extern "C" void pmtrace_complain_once(const char* text);
