/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The minimum for a library call that checks whether tracing is on. */
#ifndef LOAD_AND_BRANCH_H
#define LOAD_AND_BRANCH_H

#ifdef __cplusplus
extern "C" {
#endif

int bench_load_and_branch(const void* tag, double value);

#ifdef __cplusplus
}
#endif

#endif
