! SPDX-License-Identifier: LGPL-2.1-or-later
! The calls by name in free form, declared by the include file; built with default kinds of 32 and
! of 64 bits.
program free
  implicit none
  include 'pcp_trace.inc'
  character(12) :: tag = 'free'
  character(40) :: text = repeat('#', 40)
  integer(4) :: code
  print *, pmtracestate(PMTRACE_STATE_NONE)
  print *, pmtracedescribe(tag, 'bytes', 'what is read')
  print *, pmtracebegin(tag)
  print *, pmtracebegin('free')
  print *, pmtraceend('free ')
  print *, pmtraceabort(tag)
  code = pmtracebegin(tag)
  print *, pmtraceabort(tag)
  print *, pmtracepoint(tag)
  print *, pmtraceobs(tag, 2.5_8)
  print *, pmtracecounter(tag, 42.0_8)
  print *, pmtraceadd('free{added=}', 2.0_8)
  print *, pmtracepoint(' ')
  call pmtraceerrstr(PMTRACE_ERR_INPROGRESS, text)
  print *, '[', text, ']'
  print *, '[', text(:4), ']'
end program
