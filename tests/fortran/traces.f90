! SPDX-License-Identifier: LGPL-2.1-or-later
! Passes traces on in each way that the module has, and prints the outgoing headers: in brackets,
! without trailing blanks. Built with the usual kinds, with 64 bits, and without tracing.
program traces
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use omp_lib, only: omp_get_thread_num
  use pcp_trace
  implicit none
  character(*), parameter :: trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  character(*), parameter :: other = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02'
  type(pmtrace_tag) :: request, step
  integer :: status

  request = pmtrace_tag('request')
  step = pmtrace_tag('step')
  call continue_a_trace()
  call continue_it_in_a_scope()
  call take_what_is_not_valid()
  call work_on_another_thread()
  call take_each_kind_of_status()
  call give_too_little_room()
  call show('at the end')

contains

  subroutine show(what)
    character(*), intent(in) :: what
    character(PMTRACE_CONTEXT_LENGTH) :: traceparent
    character(PMTRACE_CONTEXT_STATE_LENGTH) :: tracestate
    call pmtrace_context(traceparent)
    call pmtrace_context_state(tracestate)
    print '(7a)', what, ': [', trim(traceparent), '] [', trim(tracestate), ']'
  end subroutine

  subroutine show_of(what, transaction)
    character(*), intent(in) :: what
    class(pmtrace_transaction), intent(in) :: transaction
    character(80) :: traceparent
    character(1000) :: tracestate
    call pmtrace_context(traceparent, transaction)
    call pmtrace_context_state(tracestate, transaction)
    print '(7a)', what, ': [', trim(traceparent), '] [', trim(tracestate), ']'
  end subroutine

  subroutine continue_a_trace()
    type(pmtrace_transaction) :: running, inner, part, plain
    call pmtrace_begin(request, plain)
    call show_of('none', plain)
    call pmtrace_begin_from(request, running, trace // '     ', 'a=b,c=d  ')
    call pmtrace_begin(step, inner)
    call show('thread')
    call show_of('inner', inner)
    call pmtrace_end(inner)
    call pmtrace_begin_under(step, part, plain)
    call show('under none')
    call pmtrace_end(part)
    inner = running
    call pmtrace_end(running)
    call show('after it')
    call pmtrace_begin_under(step, part, inner)
    call show_of('under what has ended', part)
    call pmtrace_abort(part)
    call pmtrace_end(plain)
  end subroutine

  subroutine continue_it_in_a_scope()
    type(pmtrace_transaction) :: part
    block
      type(pmtrace_scope) :: scope, within
      call pmtrace_begin_from(request, scope, other, 'e=f')
      call pmtrace_begin_from(request, scope, trace)
      call show_of('scope', scope)
      call pmtrace_begin_under(step, within, scope)
      call pmtrace_begin_under(step, within, scope)
      call show('scope under scope')
      call pmtrace_begin_under(step, part, scope)
      call pmtrace_end(part)
      call pmtrace_end(within)  ! the compiler might end the outer one first
    end block
    call show('after the scopes')
  end subroutine

  subroutine take_what_is_not_valid()
    type(pmtrace_transaction) :: running
    call pmtrace_begin_from(request, running, '', 'a=b')
    call show('blank')
    call pmtrace_end(running)
    call pmtrace_begin_from(request, running, trace(2:))
    call show('short')
    call pmtrace_end(running)
    call pmtrace_begin_from(request, running, trace, 'A=B')
    call show('no state')
    call pmtrace_end(running)
    call pmtrace_begin_from(request, running, trace // achar(0) // 'x', repeat('x', 100000))
    call show('long state')
    call pmtrace_end(running)
  end subroutine

  subroutine work_on_another_thread()
    type(pmtrace_transaction) :: running, part
    call pmtrace_begin_from(request, running, trace, 'a=b')
    !$omp parallel num_threads(2) private(part)
    if (omp_get_thread_num() == 1) then
      call show('another thread')
      call pmtrace_attach(running)
      call pmtrace_begin(step, part)
      call show_of('attached', part)
      call pmtrace_end(part)
      call pmtrace_detach(running)
      call show('detached')
    end if
    !$omp end parallel
    call pmtrace_end(running)
  end subroutine

  subroutine take_each_kind_of_status()
    type(pmtrace_transaction) :: running, part
    type(pmtrace_scope) :: scope
    character(55) :: traceparent
    character(512) :: tracestate
    integer(int32) :: narrow
    integer(int64) :: wide

    call pmtrace_begin_from(request, running, trace, 'a=b', status)
    call expect(status, 0)
    call pmtrace_begin_from(request, part, trace, 'a=b', narrow)
    call pmtrace_end(part)
    call pmtrace_begin_from(request, part, trace, narrow)
    call pmtrace_end(part)
    call pmtrace_begin_from(request, part, trace, wide)
    call pmtrace_end(part)
    call pmtrace_begin_from(request, part, trace, status=wide, tracestate='a=b')
    call pmtrace_end(part)
    call pmtrace_begin_from(request, scope, trace, narrow)
    call pmtrace_begin_from(request, scope, trace, 'a=b', narrow)
    call pmtrace_begin_from(request, scope, trace, wide)
    call pmtrace_begin_from(request, scope, trace, 'a=b', wide)
    call pmtrace_begin_under(step, part, running, narrow)
    call pmtrace_end(part)
    call pmtrace_begin_under(step, part, running, wide)
    call pmtrace_end(part)
    call pmtrace_begin_under(step, scope, running, narrow)
    call pmtrace_begin_under(step, scope, running, wide)
    call pmtrace_end(scope)
    call pmtrace_attach(running, narrow)
    call pmtrace_attach(running, wide)
    call expect(int(narrow), int(wide))
    call pmtrace_context(traceparent, narrow)
    call pmtrace_context(traceparent, wide)
    call pmtrace_context(traceparent, running, narrow)
    call pmtrace_context(traceparent, running, wide)
    call pmtrace_context_state(tracestate, narrow)
    call pmtrace_context_state(tracestate, wide)
    call pmtrace_context_state(tracestate, running, narrow)
    call pmtrace_context_state(tracestate, running, wide)
    call expect(int(narrow), int(wide))
    call pmtrace_detach(running, narrow)
    call pmtrace_detach(running, wide)
    call pmtrace_end(running)
    print '(a)', 'each kind of status'
  end subroutine

  subroutine give_too_little_room()
    character(54) :: traceparent
    character(511) :: tracestate
    type(pmtrace_scope) :: scope
    call pmtrace_begin_from(request, scope, trace, 'a=b')
    traceparent = 'something'
    tracestate = 'something'
    call pmtrace_context(traceparent, status)
    call expect(status, -22)
    call pmtrace_context_state(tracestate, scope, status)
    call expect(status, -22)
    print '(5a)', 'too little: [', trim(traceparent), '] [', trim(tracestate), ']'
  end subroutine

  subroutine expect(got, wanted)
    integer, intent(in) :: got, wanted
    if (got /= wanted) error stop 'a status'
  end subroutine
end program
