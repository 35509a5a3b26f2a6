! SPDX-License-Identifier: LGPL-2.1-or-later
! A program that uses an unset tag, and ignores the status.
program unset
  use pcp_trace
  implicit none
  type(pmtrace_tag) :: forgotten
  type(pmtrace_transaction) :: transaction
  type(pmtrace_scope) :: scope
  integer :: status

  call pmtrace_point(forgotten, status)
  if (status /= PMTRACE_ERR_TAGNAME) error stop 'the status'
  print '(a)', 'not said yet'
  call pmtrace_begin(forgotten, scope)
  call pmtrace_begin(forgotten, transaction)
  call pmtrace_point(forgotten)
  call pmtrace_observe(forgotten, 1)
  call pmtrace_count(forgotten, 1)
  call pmtrace_add(forgotten, 1)
  call pmtrace_describe(forgotten, 's', 'nothing')
end program
