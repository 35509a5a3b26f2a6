! SPDX-License-Identifier: LGPL-2.1-or-later
! One of several equal processes with four threads each, like an MPI rank.
program ranks
  use omp_lib, only: omp_get_num_threads
  use pcp_trace
  implicit none
  integer, parameter :: threads = 4, rounds = 10000
  character(*), parameter :: phases(2) = [character(8) :: 'exchange', 'solve']
  type(pmtrace_tag) :: shared
  type(pmtrace_transaction) :: own
  integer :: round, failures, status

  shared = pmtrace_tag('shared')
  failures = 0
  !$omp parallel num_threads(threads) private(own, round, status) reduction(+: failures)
  if (omp_get_num_threads() /= threads) error stop 'not as many threads as wanted'
  do round = 1, rounds
    call pmtrace_begin(shared, own, status)
    failures = failures - min(status, 0)
    call pmtrace_begin(phases(1 + mod(round, 2)), status)
    failures = failures - min(status, 0)
    call pmtrace_point(shared)
    call pmtrace_observe(shared, round)
    call pmtrace_end(phases(1 + mod(round, 2)), status)
    failures = failures - min(status, 0)
    call pmtrace_end(own, status)
    failures = failures - min(status, 0)
  end do
  !$omp end parallel
  print '(i0)', failures
end program
