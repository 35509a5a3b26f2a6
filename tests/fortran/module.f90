! SPDX-License-Identifier: LGPL-2.1-or-later
! Every procedure of the module, with every kind of argument. Variables without a kind have the
! compiler's default; built with the usual default kinds and with 64 bits.
program everything
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use pcp_trace
  implicit none
  integer :: status

  ! With SYNC each call waits for its acknowledgement, so a missing agent shows.
  call expect('the state before', int(pmtrace_state(PMTRACE_STATE_SYNC)), 0)
  call trace_by_handle()
  call trace_by_name()
  call observe(pmtrace_tag('handle'), 'name   ')
  call count_so_far(pmtrace_tag('handle'), 'name   ')
  call add(pmtrace_tag('handle-sum'), 'name-sum   ')
  call trace_with_labels()
  call make_mistakes()
  call read_messages()
  call look_at_library()
  print '(a)', 'well'

contains

  subroutine trace_by_handle()
    type(pmtrace_tag) :: tag, copy
    type(pmtrace_transaction) :: outer, inner
    integer(int32) :: status32
    integer(int64) :: status64

    tag = pmtrace_tag('handle   ')
    copy = tag
    call pmtrace_begin(tag, outer)
    call pmtrace_begin(copy, inner, status)
    call expect('begin', status, 0)
    call pmtrace_end(inner, status)
    call expect('end', status, 0)
    call pmtrace_abort(outer, status)
    call expect('abort', status, 0)
    call pmtrace_begin(tag, outer, status64)
    call pmtrace_end(outer)
    call pmtrace_begin(tag, outer, status32)
    call pmtrace_abort(outer)

    call pmtrace_point(tag)
    call pmtrace_point(tag, status)
    call expect('point', status, 0)
  end subroutine

  subroutine trace_by_name()
    character(20) :: tag
    integer(int32) :: status32
    integer(int64) :: status64

    tag = 'name'
    call pmtrace_describe(tag, 'K', 'how warm it is')
    call pmtrace_describe('name', 'K', 'how warm it is', status32)
    call pmtrace_describe('name', '', '', status64)
    call expect('describe by name', int(status32 + status64), 0)
    call pmtrace_begin(tag)
    call pmtrace_end('name', status)
    call expect('end by name', status, 0)
    call pmtrace_begin(tag, status32)
    call pmtrace_abort('name  ', status64)
    call pmtrace_begin('name', status64)
    call pmtrace_abort(tag)
    call begin_by_name_in_variables()
    call pmtrace_point(tag)
    call pmtrace_point('name', status)
    call pmtrace_point('  blanks before and within  ')
  end subroutine

  subroutine observe(tag, name)
    use pcp_trace, only: record => pmtrace_observe
    include 'each_kind_of_number.inc'
  end subroutine

  subroutine count_so_far(tag, name)
    use pcp_trace, only: record => pmtrace_count
    include 'each_kind_of_number.inc'
  end subroutine

  subroutine add(tag, name)
    use pcp_trace, only: record => pmtrace_add
    include 'each_kind_of_number.inc'
  end subroutine

  ! Two transactions of one name at once, each in a variable; a scope ends with this procedure.
  subroutine begin_by_name_in_variables()
    type(pmtrace_transaction) :: outer, inner
    type(pmtrace_scope) :: scope, wide_scope
    integer(int32) :: status32
    integer(int64) :: status64
    call pmtrace_begin('phase ', outer)
    call pmtrace_begin('phase', inner, status32)
    call pmtrace_end(inner)
    call pmtrace_begin('phase', inner, status64)
    call expect('begin by name in a variable', int(status32 + status64), 0)
    call pmtrace_end(inner)
    call pmtrace_end(outer)
    call pmtrace_begin('phase', scope, status32)
    call pmtrace_begin('phase', wide_scope, status64)
    call expect('begin by name in a scope', int(status32 + status64), 0)
    call pmtrace_begin('', outer, status32)
    call expect('begin by no name', int(status32), int(PMTRACE_ERR_TAGNAME))
  end subroutine

  subroutine trace_with_labels()
    type(pmtrace_tag) :: tag
    integer(int32) :: status32
    integer(int64) :: status64

    ! Labels in any order, without their trailing blanks.
    tag = pmtrace_tag('solve ', [character(8) :: 'method', 'grid'], [character(8) :: 'cg', 'a b'])
    call pmtrace_describe(tag, 's', 'what it takes')
    call pmtrace_describe(tag, 's', '', status32)
    call pmtrace_describe(tag, '', 'what it takes', status64)
    call expect('describe', int(status32 + status64), 0)
    call pmtrace_point(tag)
    call pmtrace_point('solve{grid=a%20b;method=cg}')
    call pmtrace_point(pmtrace_tag('solve', 'grid', ''))
  end subroutine

  subroutine make_mistakes()
    type(pmtrace_tag) :: never_set
    type(pmtrace_transaction) :: never_begun
    integer(int32) :: status32
    integer(int64) :: status64

    call pmtrace_point(never_set, status)
    call expect('no tag', status, int(PMTRACE_ERR_TAGNAME))
    call pmtrace_point(pmtrace_tag('   '), status)
    call expect('a blank tag', status, int(PMTRACE_ERR_TAGNAME))
    call pmtrace_observe('', 1.0, status)
    call expect('an empty name', status, int(PMTRACE_ERR_TAGNAME))
    call pmtrace_count(repeat('x', 255), 1, status)
    call expect('a long name', status, int(PMTRACE_ERR_TAGLENGTH))
    call pmtrace_add('name', -1, status)
    call expect('what is less than nothing', status, -22)
    call pmtrace_add(pmtrace_tag('handle'), -0.5, status)
    call expect('what is less than nothing, by handle', status, -22)
    call pmtrace_point(pmtrace_tag('name', 'Not a label', ''), status)
    call expect('what is no label', status, int(PMTRACE_ERR_TAGNAME))
    call pmtrace_point(pmtrace_tag('name', ['a', 'b'], ['a']), status)
    call expect('a label without a value', status, int(PMTRACE_ERR_TAGNAME))
    call pmtrace_point(pmtrace_tag('name', ['a'], ['a', 'b']), status)
    call expect('a value without a label', status, int(PMTRACE_ERR_TAGNAME))
    call pmtrace_describe(never_set, 's', '', status)
    call expect('a description of no tag', status, int(PMTRACE_ERR_TAGNAME))
    call pmtrace_describe(' ', 's', '', status)
    call expect('a description of a blank name', status, int(PMTRACE_ERR_TAGNAME))
    call pmtrace_end(never_begun, status)
    call expect('end of nothing', status, int(PMTRACE_ERR_NOPROGRESS))
    call pmtrace_end('never begun', status64)
    call expect('end of an unknown name', int(status64), int(PMTRACE_ERR_NOSUCHTAG))
    call pmtrace_begin('twice')
    call pmtrace_begin('twice', status32)
    call expect('a second begin', int(status32), int(PMTRACE_ERR_INPROGRESS))
    call pmtrace_end('twice')
    call pmtrace_abort('twice', status)
    call expect('abort after end', status, int(PMTRACE_ERR_NOPROGRESS))
  end subroutine

  subroutine read_messages()
    character(:), allocatable :: message
    message = pmtrace_error_message(0)
    if (message /= 'No error.' .or. len(message) /= 9) error stop 'the message for 0'
    if (pmtrace_error_message(PMTRACE_ERR_TAGNAME) /= pmtrace_error_message(-12000_int64)) &
      error stop 'messages of both kinds'
    if (len(pmtrace_error_message(-111)) == 0) error stop 'the message for an errno'
  end subroutine

  subroutine look_at_library()
    type(pmtrace_statistics) :: stats
    if (.not. pmtrace_flush(100)) error stop 'flush'
    if (.not. pmtrace_flush(30.0)) error stop 'flush, real'
    if (.not. pmtrace_flush(30.0_real32)) error stop 'flush, real32'
    if (.not. pmtrace_flush(30.0_real64)) error stop 'flush, real64'
    if (.not. pmtrace_flush(30_int32)) error stop 'flush, int32'
    if (.not. pmtrace_flush(30_int64)) error stop 'flush, int64'
    call pmtrace_stats(stats)
    call expect('recorded', int(stats%recorded), 69)
    call expect('acknowledged', int(stats%acknowledged), 69)
    call expect('aborted', int(stats%aborted), 4)
    call expect('connected', int(stats%connected), 1)
    call expect('version', int(stats%version), 2)
    call expect('labels cut', int(stats%labels_cut), 0)
    call expect('labels over', int(stats%labels_over), 0)
    call expect('unlisted', int(stats%unlisted), 0)
    call expect('the state', int(pmtrace_state(64_int64)), int(PMTRACE_STATE_SYNC))
  end subroutine

  subroutine expect(what, got, wanted)
    character(*), intent(in) :: what
    integer, intent(in) :: got, wanted
    if (got == wanted) return
    print '(2a, i0, a, i0)', what, ': ', got, ', not ', wanted
    error stop 1
  end subroutine
end program
