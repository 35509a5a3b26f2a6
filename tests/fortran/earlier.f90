! SPDX-License-Identifier: LGPL-2.1-or-later
! Begins two seconds ago, in each form; a tag as text; and files for pmdammv, by the module and by name.
program earlier
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use pcp_trace
  implicit none
  character(*), parameter :: header = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  integer(int32), external :: pmtracecount, pmtracemmv
  type(pmtrace_tag) :: tag, never_set
  type(pmtrace_transaction) :: whole, part
  integer(int64) :: start, rate, status

  call pmtrace_mmv('no name', status)
  print '(2i4)', status, pmtracemmv('no name')
  tag = pmtrace_tag('waited', 'zone', 'eu')
  print '(5a)', '"', pmtrace_tag_text(tag), '" "', pmtrace_tag_text(never_set), '"'

  call system_clock(start, rate)
  start = start - 2 * rate
  call pmtrace_begin_at(tag, start, whole)
  call pmtrace_end(whole)
  call pmtrace_begin_from_at(tag, start, whole, header, status)
  call show(whole)
  call pmtrace_begin_under_at(pmtrace_tag('part'), start, part, whole)
  call show(part)
  call pmtrace_end(part)
  call pmtrace_end(whole)
  call scopes()
  print '(2i4)', pmtracecount('total', 42.0_real64), pmtracemmv('late')

contains

  subroutine scopes()
    type(pmtrace_scope) :: scope
    call pmtrace_begin_at(pmtrace_tag('scope'), start, scope)
    call pmtrace_begin_under_at(pmtrace_tag('under'), start, scope, whole)
    call pmtrace_begin_from_at(pmtrace_tag('from'), start, scope, header, 'a=1')
  end subroutine

  subroutine show(transaction)
    class(pmtrace_transaction), intent(in) :: transaction
    character(PMTRACE_CONTEXT_LENGTH) :: text
    call pmtrace_context(text, transaction)
    print '(l1)', text(:35) == header(:35)
  end subroutine
end program
