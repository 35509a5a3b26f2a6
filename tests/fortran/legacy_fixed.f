C     SPDX-License-Identifier: LGPL-2.1-or-later
*     The calls by name in fixed form, declared by the include file.
      program fixed
      implicit none
      include 'pcp_trace.inc'
      character*12 tag
      character*40 text
      integer*4 code
      tag = 'fixed'
      print *, pmtracestate(PMTRACE_STATE_NONE)
      print *, pmtracedescribe(tag, 'bytes', 'what is read')
      print *, pmtracebegin(tag)
      print *, pmtracebegin('fixed')
      print *, pmtraceend('fixed ')
      print *, pmtraceabort(tag)
      code = pmtracebegin(tag)
      print *, pmtraceabort(tag)
      print *, pmtracepoint(tag)
      print *, pmtraceobs(tag, 2.5d0)
      print *, pmtracecounter(tag, 42d0)
      print *, pmtraceadd('fixed{added=}', 2d0)
      print *, pmtracepoint(' ')
      text = '########################################'
      call pmtraceerrstr(PMTRACE_ERR_INPROGRESS, text)
      print *, '[', text, ']'
      print *, '[', text(1:4), ']'
      end
