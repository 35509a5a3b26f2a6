! SPDX-License-Identifier: LGPL-2.1-or-later
! The calls by name in free form, declared by the include file; built with default kinds of 32 and
! of 64 bits.
program free
  implicit none
  include 'pcp_trace.inc'
  include 'legacy_calls.inc'
end program
