! SPDX-License-Identifier: LGPL-2.1-or-later
! A solver with phases: heat spreads over a plate, by Jacobi's method, in time steps.
!
!   solver [SECONDS]     and meanwhile:  pmrep -t 1 trace.transact.count trace.transact.total_time
!                        or:             pmval -t 1 trace.observe.value
!
! Compare the times of a step's phases, "relax" in every step and "write" in one of ten, and watch
! the residual fall. At the end it prints the number of its steps: the count of "step".
program solver
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use pcp_trace
  implicit none

  integer, parameter :: width = 256, sweeps_per_step = 20
  type(pmtrace_tag) :: step, relax, residual, diverged
  type(pmtrace_transaction) :: this_step, phase
  real(real64) :: plate(0:width + 1, 0:width + 1), next(width, width), change
  integer(int64) :: now, until, rate
  integer :: steps, sweep

  ! Each tag is looked up once; a call then costs a few nanoseconds.
  step = pmtrace_tag('step')
  relax = pmtrace_tag('relax')
  residual = pmtrace_tag('residual')
  diverged = pmtrace_tag('diverged')

  plate = 0
  plate(0, :) = 100
  call system_clock(now, rate)
  until = now + int(seconds_to_run() * real(rate, real64), int64)

  steps = 0
  do
    steps = steps + 1
    call pmtrace_begin(step, this_step)

    call pmtrace_begin(relax, phase)  ! a phase inside of the step
    do sweep = 1, sweeps_per_step
      next = (plate(:width - 1, 1:width) + plate(2:, 1:width) &
            + plate(1:width, :width - 1) + plate(1:width, 2:)) / 4
      change = maxval(abs(next - plate(1:width, 1:width)))
      plate(1:width, 1:width) = next
    end do
    call pmtrace_end(phase)

    call pmtrace_observe(residual, change)
    if (change > 100) call pmtrace_point(diverged)

    if (mod(steps, 10) == 0) call write_plate()
    call pmtrace_count('sweeps', steps * sweeps_per_step)  ! by name: it is called rarely
    call pmtrace_end(this_step)

    call system_clock(now)
    if (now >= until) exit
  end do
  print '(a, i0, a, es9.2)', 'made ', steps, ' steps, last change ', change

contains

  function seconds_to_run() result(seconds)
    real(real64) :: seconds
    character(32) :: argument
    call get_command_argument(1, argument)
    seconds = 3
    if (argument /= '') read (argument, *) seconds
  end function

  subroutine write_plate()
    integer :: unit
    call pmtrace_begin('write')
    open (newunit=unit, status='scratch', form='unformatted')
    write (unit) plate
    close (unit)
    call pmtrace_end('write')
  end subroutine
end program
