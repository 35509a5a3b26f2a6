! SPDX-License-Identifier: LGPL-2.1-or-later
! Makes the notes that tests/support/noted.py expects, in each way that the module has, once the
! span is captured; with the argument "never" it does not wait for a capture. Built with the usual
! kinds, with 64 bits, and without tracing.
program notes
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use, intrinsic :: iso_c_binding, only: c_int
  use pcp_trace
  implicit none
  interface
    function usleep(microseconds) bind(c) result(code)  ! poll: until it is captured
      import :: c_int
      integer(c_int), intent(in), value :: microseconds
      integer(c_int) :: code
    end function
  end interface
  character(*), parameter :: trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  type(pmtrace_tag) :: request
  type(pmtrace_transaction) :: running
  integer :: status

  request = pmtrace_tag('request')
  if (command_argument_count() == 0) then
    call begin_captured()
  else
    call pmtrace_begin(request, running)
  end if
  call note()
  call end_in_each_way()
  if (.not. pmtrace_flush(100)) error stop 'not flushed'

contains

  ! Notes of a transaction that is not captured must not show up in the next one.
  subroutine begin_captured()
    integer(c_int) :: ignored
    do
      call pmtrace_begin(request, running)
      if (pmtrace_is_captured(running)) exit
      call pmtrace_note(running, 'early', 'text')
      call pmtrace_end(running)
      ignored = usleep(10000_c_int)  ! poll: until it is captured
    end do
  end subroutine

  subroutine note()
    integer(int32) :: narrow
    integer(int64) :: wide
    integer :: wrong
    wrong = 0
    if (pmtrace_is_captured(running)) wrong = -22
    call pmtrace_note(running, 'route', '/nowhere', narrow)
    call pmtrace_note(running, 'rows', 1_int8)
    call pmtrace_note(running, 'rows', 2_int16)
    call pmtrace_note(running, 'rows', 3_int32)
    call pmtrace_note(running, 'rows', 4_int64)
    call pmtrace_note(running, 'rows', 5.0_real64)
    call pmtrace_note(running, 'rows', 12.5_real32, narrow)
    call pmtrace_note(running, 'bytes', 1_int8, wide)
    call pmtrace_note(running, 'bytes', 2_int16, wide)
    call pmtrace_note(running, 'bytes', 3_int64, wide)
    call pmtrace_note(running, 'bytes', 4.0_real32, wide)
    call pmtrace_note(running, 'bytes', 5.0_real64, wide)
    call pmtrace_note(running, 'bytes', 4096_int32, wide)
    call pmtrace_note(running, 'route   ', '/käse   ', wide)
    call expect(int(narrow), 0)
    call expect(int(wide), 0)
    call pmtrace_note(running, repeat('k', 128), 'yes')
    call pmtrace_note(running, 'long', repeat('v', 5000), status)
    call expect(status, 0)
    call pmtrace_note(running, ' ', 'text', status)
    call expect(status, wrong)
    call pmtrace_note(running, repeat('k', 129), 1, status)
    call expect(status, wrong)
    call pmtrace_link(running, trace // '   ', narrow)
    call expect(int(narrow), 0)
    call pmtrace_link(running, trace(2:), wide)
    call expect(int(wide), wrong)
    call pmtrace_want(running, 'chosen   ', narrow)
    call pmtrace_want(running, wide)
    call expect(int(narrow) + int(wide), 0)
    call pmtrace_fail_as(running, pmtrace_tag(request, 'status', '504'), 'declined  ', status)
    call expect(status, 0)
  end subroutine

  ! Ends and fails scopes and variables of a tag that is not captured.
  subroutine end_in_each_way()
    type(pmtrace_transaction) :: again
    type(pmtrace_scope) :: scope
    integer(int64) :: wide
    type(pmtrace_tag) :: other
    other = pmtrace_tag('other')
    call pmtrace_begin(other, scope)
    call pmtrace_note(scope, 'route', '/cart')
    call pmtrace_note(scope, 'rows', 7)
    call pmtrace_link(scope, trace)
    call pmtrace_want(scope, 'why')
    call pmtrace_want(scope)
    if (pmtrace_is_captured(scope)) error stop 'the wrong one is captured'
    call pmtrace_fail(scope, 'declined')
    call pmtrace_begin(other, again)
    call pmtrace_fail(again, 'declined', wide)
    call expect(int(wide), 0)
    call pmtrace_begin(other, scope)
    call pmtrace_fail_as(scope, other, 'declined', wide)
    call expect(int(wide), 0)
    call pmtrace_note(running, 'late', 'text', wide)
    call expect(int(wide), 0)
  end subroutine

  subroutine expect(got, wanted)
    integer, intent(in) :: got, wanted
    if (got /= wanted) error stop 'a status'
  end subroutine
end program
