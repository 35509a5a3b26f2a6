/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pcp/trace.h>

#include "scope_ways.h"

int main(void) {
  int how;
  for (how = 0; how < 5; ++how) leave(how);
  return nested(1);
}
