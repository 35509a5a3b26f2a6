! SPDX-License-Identifier: LGPL-2.1-or-later
! Each way to leave a scope's block or procedure. The tags say how often each transaction must
! count.
program scopes
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int64_t, c_loc
  use pcp_trace
  implicit none
  integer :: i

  block
    type(pmtrace_scope) :: scope
    call pmtrace_begin(pmtrace_tag('end of a block'), scope)
  end block
  do i = 1, 3
    block
      type(pmtrace_scope) :: scope
      call pmtrace_begin(pmtrace_tag('cycle in a block'), scope)
      if (i < 3) cycle
    end block
  end do
  left: block
    type(pmtrace_scope) :: scope
    call pmtrace_begin(pmtrace_tag('exit from a block'), scope)
    if (i > 3) exit left
    error stop 'not left'
  end block left
  call return_early(1)
  call return_early(2)
  call return_from_block()
  call nest()
  call go_by_hand()
  call leave_arrays(3)
  call share_work()
  call reuse_memory()
  block
    type(pmtrace_scope) :: never_begun
    call pmtrace_end(never_begun, i)
    if (i /= PMTRACE_ERR_NOPROGRESS) error stop 'what never began has ended'
  end block

contains

  subroutine return_early(where)
    integer, intent(in) :: where
    type(pmtrace_scope) :: scope
    call pmtrace_begin(pmtrace_tag('return'), scope)
    if (where == 1) return
    call pmtrace_point('past it')
  end subroutine

  subroutine return_from_block()
    type(pmtrace_scope) :: outer
    call pmtrace_begin(pmtrace_tag('outer return'), outer)
    block
      type(pmtrace_scope) :: inner
      call pmtrace_begin(pmtrace_tag('inner return'), inner)
      return
    end block
  end subroutine

  recursive subroutine nest(depth)
    integer, intent(in), optional :: depth
    type(pmtrace_scope) :: scope
    call pmtrace_begin(pmtrace_tag('nested'), scope)
    if (.not. present(depth)) call nest(1)
  end subroutine

  subroutine go_by_hand()
    type(pmtrace_scope) :: aborted, ended, begun_twice, labelled
    type(pmtrace_transaction) :: transaction
    type(pmtrace_tag) :: solve, done
    integer :: i
    call pmtrace_begin(pmtrace_tag('aborted'), aborted)
    call pmtrace_abort(aborted)
    call pmtrace_begin(pmtrace_tag('ended'), ended)
    call pmtrace_end(ended)
    call pmtrace_begin(pmtrace_tag('begun twice'), begun_twice)
    solve = pmtrace_tag('solve', ['grid  ', 'method'], ['fine  ', 'direct'])
    done = pmtrace_tag(solve, [character(6) :: 'result', 'method'], [character(2) :: 'ok', 'cg'])
    call pmtrace_begin(solve, labelled)
    call pmtrace_end_as(labelled, done)
    call pmtrace_end_as(labelled, done, i)
    if (i /= PMTRACE_ERR_NOPROGRESS) error stop 'ended as another twice'
    call pmtrace_begin(solve, labelled)
    call pmtrace_abort_as(labelled, pmtrace_tag(solve, 'result', 'singular'), i)
    if (i /= 0) error stop 'not aborted as another'
    call pmtrace_begin(solve, transaction)
    call pmtrace_end_as(transaction, done, i)
    if (i /= 0) error stop 'not ended as another'
    call pmtrace_begin(solve, transaction)
    call pmtrace_abort_as(transaction, done)
    call pmtrace_begin(solve, transaction)
    call pmtrace_end_as(transaction, pmtrace_tag(solve, 'Result', 'ok'), i)
    if (i /= PMTRACE_ERR_TAGNAME) error stop 'ended as no tag'
    call pmtrace_begin(pmtrace_tag('begun twice'), begun_twice)
  end subroutine

  subroutine leave_arrays(n)
    integer, intent(in) :: n
    type(pmtrace_scope) :: fixed(2), automatic(n), square(2, 2)
    type(pmtrace_scope), allocatable :: allocated(:), deallocated(:)
    integer :: i
    allocate(allocated(n), deallocated(n))
    do i = 1, 2
      call pmtrace_begin(pmtrace_tag('fixed array'), fixed(i))
      call pmtrace_begin(pmtrace_tag('square'), square(1, i))
    end do
    do i = 1, n
      call pmtrace_begin(pmtrace_tag('automatic array'), automatic(i))
      call pmtrace_begin(pmtrace_tag('allocated array'), allocated(i))
      call pmtrace_begin(pmtrace_tag('deallocated array'), deallocated(i))
    end do
    deallocate(deallocated)
  end subroutine

  ! A private copy is uninitialised: it holds old bytes of its thread's stack.
  subroutine share_work()
    type(pmtrace_scope) :: part
    !$omp parallel num_threads(4)
    call leave_rubbish()
    !$omp end parallel
    !$omp parallel num_threads(4) private(part)
    call pmtrace_begin(pmtrace_tag('private of a thread'), part)
    call pmtrace_end(part)
    !$omp end parallel
  end subroutine

  ! Overwrites all of the scope except its last word.
  subroutine reuse_memory()
    integer(c_int64_t), target :: memory(9)
    type(pmtrace_scope), pointer :: scope
    call c_f_pointer(c_loc(memory), scope)
    memory = 4711
    call pmtrace_begin(pmtrace_tag('in used memory'), scope)
    call pmtrace_end(scope)
    memory(:8) = 4711
    call pmtrace_end(scope, i)
    if (i /= PMTRACE_ERR_NOPROGRESS) error stop 'rubbish has ended'
  end subroutine

  subroutine leave_rubbish()
    integer(8), volatile :: rubbish(1000)
    rubbish = 4711
  end subroutine
end program
