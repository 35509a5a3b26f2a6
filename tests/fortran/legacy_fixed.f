C     SPDX-License-Identifier: LGPL-2.1-or-later
*     The calls by name in fixed form, declared by the include file.
      program fixed
      implicit none
      include 'pcp_trace.inc'
      include 'legacy_calls.inc'
      end
