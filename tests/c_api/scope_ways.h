/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scopes of one line in C90 and later, and in C++: declarations, left in every way. */
#define TWO_ON_ONE_LINE   \
  PMTRACE_SCOPE("outer"); \
  PMTRACE_SCOPE("inner")

static __inline__ int nested(int depth) {
  PMTRACE_FUNCTION();
  TWO_ON_ONE_LINE;
  return depth == 0 ? 0 : nested(depth - 1);
}

static __inline__ void leave(int how) {
  int pass;
  for (pass = 0; pass < 2; ++pass) {
    PMTRACE_SCOPE("pass");
    if (how == pass) continue;
    if (how == 2) break;
    if (how == 3) goto out;
    if (how == 4) return;
  }
out:
  switch (how) {
    default: {
      PMTRACE_SCOPE("case");
    }
  }
}
