C     SPDX-License-Identifier: LGPL-2.1-or-later
C     An old solver, traced with the calls by name: a bar of metal, hot
C     at one end, relaxed by Gauss and Seidel's method until it rests.
C
C       legacy_solver [SECONDS]     and meanwhile:
C       pmrep -t 1 trace.transact.count trace.transact.max_time
C
C     Look at how the time goes to SETUP and RELAX, and with
C     pminfo -f trace.observe.value at how many sweeps a bar took. At
C     the end it prints how many bars it relaxed: the count of RELAX.
      PROGRAM LEGACY
      INTEGER PMTRACEBEGIN, PMTRACEEND, PMTRACEOBS
      EXTERNAL PMTRACEBEGIN, PMTRACEEND, PMTRACEOBS
      INTEGER N
      PARAMETER (N = 100)
      REAL*8 BAR(0:N+1), SECNDS, SWEEPS, CHANGE
      INTEGER NOW, START, RATE, ISTAT, BARS
      CHARACTER*32 ARG
      CHARACTER*80 TEXT

      SECNDS = 3
      CALL GETARG(1, ARG)
      IF (ARG .NE. ' ') READ (ARG, *) SECNDS
      CALL SYSTEM_CLOCK(START, RATE)
      BARS = 0

C     The first call tells whether there is an agent.
   10 ISTAT = PMTRACEBEGIN('SETUP')
      IF (ISTAT .LT. 0 .AND. BARS .EQ. 0) THEN
        CALL PMTRACEERRSTR(ISTAT, TEXT)
        PRINT *, 'not traced: ', TEXT
      END IF
      CALL SETUP(BAR, N, 100D0 + MOD(BARS, 7))
      ISTAT = PMTRACEEND('SETUP')

      ISTAT = PMTRACEBEGIN('RELAX')
      SWEEPS = 0
   20 CALL SWEEP(BAR, N, CHANGE)
      SWEEPS = SWEEPS + 1
      IF (CHANGE .GT. 1D-4) GOTO 20
      ISTAT = PMTRACEEND('RELAX')

      ISTAT = PMTRACEOBS('SWEEPS', SWEEPS)
      BARS = BARS + 1
      CALL SYSTEM_CLOCK(NOW)
      IF (NOW - START .LT. SECNDS * RATE) GOTO 10
      PRINT '(A, I0, A)', 'relaxed ', BARS, ' bars'
      END

      SUBROUTINE SETUP(BAR, N, HEAT)
      INTEGER N, I
      REAL*8 BAR(0:N+1), HEAT
      DO 30 I = 1, N + 1
        BAR(I) = 0
   30 CONTINUE
      BAR(0) = HEAT
      END

      SUBROUTINE SWEEP(BAR, N, CHANGE)
      INTEGER N, I
      REAL*8 BAR(0:N+1), CHANGE, BEFORE
      CHANGE = 0
      DO 40 I = 1, N
        BEFORE = BAR(I)
        BAR(I) = (BAR(I-1) + BAR(I+1)) / 2
        CHANGE = MAX(CHANGE, ABS(BAR(I) - BEFORE))
   40 CONTINUE
      END
