/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The number that the trace agent has among PCP's agents. */
#define TRACE 10
