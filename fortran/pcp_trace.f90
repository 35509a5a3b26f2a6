! Application tracing for Performance Co-Pilot: the module for Fortran 2008.
!
!   type(pmtrace_tag) :: assembly
!   type(pmtrace_transaction) :: running       ! or a pmtrace_scope, which ends with its block
!
!   assembly = pmtrace_tag('assembly')         ! look the tag up once, then
!   call pmtrace_begin(assembly, running)      ! each call costs a few nanoseconds
!   call pmtrace_end(running)
!   call pmtrace_observe('residual', 1.0e-3)   ! or by name, for some more of them
!
! Every verb is one generic subroutine. It takes a pmtrace_tag or a character value without its
! trailing blanks, and a value of any of six kinds. All kinds are explicit, so the module also works
! with -fdefault-integer-8 or -fdefault-real-8. The optional last argument `status` is 0 or a
! negative code. See pcp_trace_fortran(3).
!
! Copyright (c) 2026 the pcp-trace authors
! SPDX-License-Identifier: LGPL-2.1-or-later
module pcp_trace
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int32_t, c_int64_t, &
    c_intptr_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none
  private

  public :: pmtrace_tag, pmtrace_transaction, pmtrace_scope, pmtrace_statistics
  public :: pmtrace_begin, pmtrace_end, pmtrace_abort
  public :: pmtrace_begin_from, pmtrace_begin_under, pmtrace_attach, pmtrace_detach
  public :: pmtrace_context, pmtrace_context_state
  public :: pmtrace_is_captured, pmtrace_note, pmtrace_link, pmtrace_fail
  public :: pmtrace_point, pmtrace_observe, pmtrace_count, pmtrace_add, pmtrace_describe
  public :: pmtrace_state, pmtrace_flush, pmtrace_stats, pmtrace_error_message

  ! The longest texts of pmtrace_context and pmtrace_context_state.
  integer(int32), parameter, public :: &
    PMTRACE_CONTEXT_LENGTH = 55, &
    PMTRACE_CONTEXT_STATE_LENGTH = 512

  ! Values of `status`, besides 0 and negative values of errno.
  integer(int32), parameter, public :: &
    PMTRACE_ERR_TAGNAME = -12000, &     ! no tag: blank, or a pmtrace_tag that was never set
    PMTRACE_ERR_INPROGRESS = -12001, &  ! begin: already open
    PMTRACE_ERR_NOPROGRESS = -12002, &  ! end, abort: not open
    PMTRACE_ERR_NOSUCHTAG = -12003, &   ! end, abort: this tag never began
    PMTRACE_ERR_TAGTYPE = -12004, &     ! never returned
    PMTRACE_ERR_TAGLENGTH = -12005, &   ! a tag has at most 254 bytes
    PMTRACE_ERR_IPC = -12006, &         ! the agent breaks the protocol
    PMTRACE_ERR_ENVFORMAT = -12007, &   ! never returned: defaults are used
    PMTRACE_ERR_TIMEOUT = -12008, &     ! the agent did not answer in time
    PMTRACE_ERR_VERSION = -12009, &     ! never returned
    PMTRACE_ERR_PERMISSION = -12010, &  ! this host is not let in
    PMTRACE_ERR_CONNLIMIT = -12011      ! the agent has too many connections

  ! State flags. Join them with ior().
  integer(int32), parameter, public :: &
    PMTRACE_STATE_NONE = 0, &      ! default
    PMTRACE_STATE_API = 1, &       ! diagnostics: calls
    PMTRACE_STATE_COMMS = 2, &     ! diagnostics: connections
    PMTRACE_STATE_PDU = 4, &       ! diagnostics: PDUs
    PMTRACE_STATE_PDUBUF = 8, &    ! diagnostics: the bytes of messages
    PMTRACE_STATE_NOAGENT = 16, &  ! no communication at all
    PMTRACE_STATE_ASYNC = 32, &    ! after the first call, never report the connection
    PMTRACE_STATE_SYNC = 64        ! every call returns after the agent has acknowledged it

  ! A tag, looked up once: tag = pmtrace_tag('name'). All threads may use it and its copies.
  type :: pmtrace_tag
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! A transaction, open between pmtrace_begin and pmtrace_end or pmtrace_abort. C's pmtrace_tx: not
  ! open while the first word is zero.
  type :: pmtrace_transaction
    private
    integer(c_int64_t) :: opaque(8) = 0
  end type

  ! A transaction that ends with the block or procedure of the variable, unless it ended before. Do
  ! not assign it: a copy has not begun.
  type, extends(pmtrace_transaction) :: pmtrace_scope
    private
    integer(c_int64_t) :: seal = 0  ! once it has begun: see seal_of
  contains
    final :: leave_scope
  end type

  ! The library's own counters: C's pmtrace_stats_t.
  type, bind(c) :: pmtrace_statistics
    integer(c_int64_t) :: recorded       ! calls
    integer(c_int64_t) :: acknowledged   ! of those, calls that the agent has acknowledged
    integer(c_int64_t) :: pending        ! calls that wait to be sent or to be acknowledged
    integer(c_int64_t) :: uncertain      ! calls sent, but the agent cannot tell if it counted them
    integer(c_int64_t) :: merged         ! calls that were added up on the spot
    integer(c_int64_t) :: thinned        ! of merged: values that percentiles do not know of
    integer(c_int64_t) :: undeliverable  ! calls whose tag a stock agent cannot take
    integer(c_int64_t) :: aborted        ! aborted transactions, counted when they are sent
    integer(c_int64_t) :: batches        ! batches sent
    integer(c_int64_t) :: reconnects     ! connections made after the first one
    integer(c_int32_t) :: connected      ! 1: an agent is connected now
    integer(c_int32_t) :: version        ! of its protocol: 1 stock, 2 ours; 0: none yet
    integer(c_int64_t) :: labels_cut     ! tags with labels that got their bare name: too long
    integer(c_int64_t) :: labels_over    ! the same, because their name had too many sets of labels
    integer(c_int64_t) :: unlisted       ! begins while so many were open that only their number counts
  end type

  ! C's pmtrace_label: two texts, each with its NUL.
  type, bind(c) :: label_texts
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: value = c_null_ptr
  end type

  ! Looks up a tag by a name of 1 to 254 bytes, or by a name with labels. Their names and values are
  ! two arrays of the same size: pmtrace_tag('solve', ['grid  ', 'method'], ['fine', 'cg  ']). With
  ! an invalid tag calls fail with PMTRACE_ERR_TAGNAME.
  interface pmtrace_tag
    module procedure tag_named, tag_with_label, tag_with_labels
  end interface

  ! Opens a transaction in the caller's variable and ignores its old contents; any number of one tag
  ! may be open. Without a variable: by name for the calling thread, one of each name at a time.
  interface pmtrace_begin
    module procedure begin_tag, begin_name, begin_named, begin_tag_wide, begin_name_wide, &
      begin_named_wide, begin_scope, begin_scope_named, begin_scope_wide, begin_scope_named_wide
  end interface

  ! Closes a transaction, by variable or name: it is counted and timed.
  interface pmtrace_end
    module procedure end_transaction, end_name, end_transaction_wide, end_name_wide, end_scope, &
      end_scope_wide
  end interface

  ! Closes a transaction as aborted: it is counted, but not timed.
  interface pmtrace_abort
    module procedure abort_transaction, abort_name, abort_transaction_wide, abort_name_wide, &
      abort_scope, abort_scope_wide
  end interface

  ! Opens a transaction for a request, in the trace of its W3C headers: traceparent and, optionally,
  ! tracestate. Blank or invalid headers: in no trace of other programs.
  interface pmtrace_begin_from
    module procedure begin_from, begin_from_wide, begin_from_state, begin_from_state_wide, &
      begin_scope_from, begin_scope_from_wide, begin_scope_from_state, begin_scope_from_state_wide
  end interface

  ! Opens a part of another transaction, of any thread. A copy of it will do, also after its end.
  interface pmtrace_begin_under
    module procedure begin_under, begin_under_wide, begin_scope_under, begin_scope_under_wide
  end interface

  ! Puts new transactions of this thread inside of this one; detach ends that.
  interface pmtrace_attach
    module procedure attach, attach_wide
  end interface
  interface pmtrace_detach
    module procedure detach, detach_wide
  end interface

  ! Gives the headers for an outgoing request of a transaction, or of this thread's innermost one.
  ! The text must have at least the lengths above; blank without a trace.
  interface pmtrace_context
    module procedure context, context_wide, context_within, context_within_wide
  end interface
  interface pmtrace_context_state
    module procedure state_context, state_context_wide, state_context_within, &
      state_context_within_wide
  end interface

  ! Notes an attribute if pmtrace_is_captured: a key of 1 to 128 bytes, and a text or number. For
  ! other transactions it only checks that.
  interface pmtrace_note
    module procedure note_text, note_text_wide, note_real64, note_real64_wide, note_real32, &
      note_real32_wide, note_int8, note_int8_wide, note_int16, note_int16_wide, note_int32, &
      note_int32_wide, note_int64, note_int64_wide
  end interface

  ! Notes a related trace by its header traceparent.
  interface pmtrace_link
    module procedure link, link_wide
  end interface

  ! Aborts a transaction, and notes the reason if captured.
  interface pmtrace_fail
    module procedure fail, fail_wide
  end interface

  ! Counts the passing of a point.
  interface pmtrace_point
    module procedure point_tag, point_name, point_tag_wide, point_name_wide
  end interface

  ! Records a value, such as a size or a residual. For real(16) write real(value, real64).
  interface pmtrace_observe
    module procedure observe_tag_real64, observe_tag_real64_wide, observe_name_real64, &
      observe_name_real64_wide, observe_tag_real32, observe_tag_real32_wide, observe_name_real32, &
      observe_name_real32_wide, observe_tag_int8, observe_tag_int8_wide, observe_name_int8, &
      observe_name_int8_wide, observe_tag_int16, observe_tag_int16_wide, observe_name_int16, &
      observe_name_int16_wide, observe_tag_int32, observe_tag_int32_wide, observe_name_int32, &
      observe_name_int32_wide, observe_tag_int64, observe_tag_int64_wide, observe_name_int64, &
      observe_name_int64_wide
  end interface

  ! Records the total so far of a growing value, such as the bytes written.
  interface pmtrace_count
    module procedure count_tag_real64, count_tag_real64_wide, count_name_real64, &
      count_name_real64_wide, count_tag_real32, count_tag_real32_wide, count_name_real32, &
      count_name_real32_wide, count_tag_int8, count_tag_int8_wide, count_name_int8, &
      count_name_int8_wide, count_tag_int16, count_tag_int16_wide, count_name_int16, &
      count_name_int16_wide, count_tag_int32, count_tag_int32_wide, count_name_int32, &
      count_name_int32_wide, count_tag_int64, count_tag_int64_wide, count_name_int64, &
      count_name_int64_wide
  end interface

  ! Adds to a counter's total of all threads and processes, for example the bytes just written. The
  ! value must not be negative.
  interface pmtrace_add
    module procedure add_tag_real64, add_tag_real64_wide, add_name_real64, add_name_real64_wide, &
      add_tag_real32, add_tag_real32_wide, add_name_real32, add_name_real32_wide, add_tag_int8, &
      add_tag_int8_wide, add_name_int8, add_name_int8_wide, add_tag_int16, add_tag_int16_wide, &
      add_name_int16, add_name_int16_wide, add_tag_int32, add_tag_int32_wide, add_name_int32, &
      add_name_int32_wide, add_tag_int64, add_tag_int64_wide, add_name_int64, add_name_int64_wide
  end interface

  ! Describes a tag: the unit of its values, such as 's' or 'bytes', and its meaning. Blank: none.
  interface pmtrace_describe
    module procedure describe_tag, describe_name, describe_tag_wide, describe_name_wide
  end interface

  ! Replaces the state flags; gives the old ones, or a negative code.
  interface pmtrace_state
    module procedure state_int32, state_int64
  end interface

  ! Waits until the agent has acknowledged all earlier calls, at most `timeout` seconds. True if it
  ! has.
  interface pmtrace_flush
    module procedure flush_real64, flush_real32, flush_int32, flush_int64
  end interface

  ! Gives the text for a status.
  interface pmtrace_error_message
    module procedure message_int32, message_int64
  end interface

  ! The C library. Its Fortran calls by name take string lengths by value after all other arguments,
  ! declared explicitly so as not to depend on a compiler's convention.
  interface
    function c_tag(name) bind(c, name='pmtrace_tag') result(handle)
      import :: c_char, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr) :: handle
    end function
    function c_tag_with(name, labels, count) bind(c, name='pmtrace_tag_with') result(handle)
      import :: c_char, c_ptr, c_size_t, label_texts
      character(kind=c_char), intent(in) :: name(*)
      type(label_texts), intent(in) :: labels(*)
      integer(c_size_t), intent(in), value :: count
      type(c_ptr) :: handle
    end function
    function c_describe(tag, unit, text) bind(c, name='pmtrace_describe') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), intent(in), value :: tag
      character(kind=c_char), intent(in) :: unit(*), text(*)
      integer(c_int) :: code
    end function
    function c_begin(tag, transaction) bind(c, name='pmtrace_begin') result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), intent(in), value :: tag
      integer(c_int64_t), intent(inout) :: transaction(8)
      integer(c_int) :: code
    end function
    function c_end(transaction) bind(c, name='pmtrace_end') result(code)
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(inout) :: transaction(8)
      integer(c_int) :: code
    end function
    function c_abort(transaction) bind(c, name='pmtrace_abort') result(code)
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(inout) :: transaction(8)
      integer(c_int) :: code
    end function
    function c_begin_from(tag, transaction, traceparent, tracestate) &
      bind(c, name='pmtrace_begin_from') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), intent(in), value :: tag
      integer(c_int64_t), intent(inout) :: transaction(8)
      character(kind=c_char), intent(in) :: traceparent(*), tracestate(*)
      integer(c_int) :: code
    end function
    function c_begin_under(tag, transaction, parent) bind(c, name='pmtrace_begin_under') &
      result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), intent(in), value :: tag
      integer(c_int64_t), intent(inout) :: transaction(8)
      integer(c_int64_t), intent(in) :: parent(8)
      integer(c_int) :: code
    end function
    function c_attach(transaction) bind(c, name='pmtrace_attach') result(code)
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(in) :: transaction(8)
      integer(c_int) :: code
    end function
    function c_detach(transaction) bind(c, name='pmtrace_detach') result(code)
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(in) :: transaction(8)
      integer(c_int) :: code
    end function
    function c_context(transaction, text, size) bind(c, name='pmtrace_context') result(length)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), intent(in), value :: transaction
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), intent(in), value :: size
      integer(c_int) :: length
    end function
    function c_context_state(transaction, text, size) bind(c, name='pmtrace_context_state') &
      result(length)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), intent(in), value :: transaction
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), intent(in), value :: size
      integer(c_int) :: length
    end function
    function c_is_captured(transaction) bind(c, name='pmtrace_is_captured') result(is_so)
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(in) :: transaction(8)
      integer(c_int) :: is_so
    end function
    function c_note(transaction, key, text) bind(c, name='pmtrace_note') result(code)
      import :: c_char, c_int, c_int64_t
      integer(c_int64_t), intent(inout) :: transaction(8)
      character(kind=c_char), intent(in) :: key(*), text(*)
      integer(c_int) :: code
    end function
    function c_note_number(transaction, key, number) bind(c, name='pmtrace_note_number') &
      result(code)
      import :: c_char, c_double, c_int, c_int64_t
      integer(c_int64_t), intent(inout) :: transaction(8)
      character(kind=c_char), intent(in) :: key(*)
      real(c_double), intent(in), value :: number
      integer(c_int) :: code
    end function
    function c_link(transaction, traceparent) bind(c, name='pmtrace_link') result(code)
      import :: c_char, c_int, c_int64_t
      integer(c_int64_t), intent(inout) :: transaction(8)
      character(kind=c_char), intent(in) :: traceparent(*)
      integer(c_int) :: code
    end function
    function c_fail(transaction, reason) bind(c, name='pmtrace_fail') result(code)
      import :: c_char, c_int, c_int64_t
      integer(c_int64_t), intent(inout) :: transaction(8)
      character(kind=c_char), intent(in) :: reason(*)
      integer(c_int) :: code
    end function
    function c_point(tag) bind(c, name='pmtrace_point') result(code)
      import :: c_int, c_ptr
      type(c_ptr), intent(in), value :: tag
      integer(c_int) :: code
    end function
    function c_observe(tag, number) bind(c, name='pmtrace_observe') result(code)
      import :: c_double, c_int, c_ptr
      type(c_ptr), intent(in), value :: tag
      real(c_double), intent(in), value :: number
      integer(c_int) :: code
    end function
    function c_count(tag, number) bind(c, name='pmtrace_count') result(code)
      import :: c_double, c_int, c_ptr
      type(c_ptr), intent(in), value :: tag
      real(c_double), intent(in), value :: number
      integer(c_int) :: code
    end function
    function c_add(tag, number) bind(c, name='pmtrace_add') result(code)
      import :: c_double, c_int, c_ptr
      type(c_ptr), intent(in), value :: tag
      real(c_double), intent(in), value :: number
      integer(c_int) :: code
    end function
    function c_begin_name(tag, length) bind(c, name='pmtracebegin_') result(code)
      import :: c_char, c_int, c_size_t
      character(kind=c_char), intent(in) :: tag(*)
      integer(c_size_t), intent(in), value :: length
      integer(c_int) :: code
    end function
    function c_end_name(tag, length) bind(c, name='pmtraceend_') result(code)
      import :: c_char, c_int, c_size_t
      character(kind=c_char), intent(in) :: tag(*)
      integer(c_size_t), intent(in), value :: length
      integer(c_int) :: code
    end function
    function c_abort_name(tag, length) bind(c, name='pmtraceabort_') result(code)
      import :: c_char, c_int, c_size_t
      character(kind=c_char), intent(in) :: tag(*)
      integer(c_size_t), intent(in), value :: length
      integer(c_int) :: code
    end function
    function c_point_name(tag, length) bind(c, name='pmtracepoint_') result(code)
      import :: c_char, c_int, c_size_t
      character(kind=c_char), intent(in) :: tag(*)
      integer(c_size_t), intent(in), value :: length
      integer(c_int) :: code
    end function
    function c_observe_name(tag, number, length) bind(c, name='pmtraceobs_') result(code)
      import :: c_char, c_double, c_int, c_size_t
      character(kind=c_char), intent(in) :: tag(*)
      real(c_double), intent(in) :: number
      integer(c_size_t), intent(in), value :: length
      integer(c_int) :: code
    end function
    function c_count_name(tag, number, length) bind(c, name='pmtracecounter_') result(code)
      import :: c_char, c_double, c_int, c_size_t
      character(kind=c_char), intent(in) :: tag(*)
      real(c_double), intent(in) :: number
      integer(c_size_t), intent(in), value :: length
      integer(c_int) :: code
    end function
    function c_add_name(tag, number, length) bind(c, name='pmtraceadd_') result(code)
      import :: c_char, c_double, c_int, c_size_t
      character(kind=c_char), intent(in) :: tag(*)
      real(c_double), intent(in) :: number
      integer(c_size_t), intent(in), value :: length
      integer(c_int) :: code
    end function
    function c_describe_name(tag, unit, text, tag_length, unit_length, text_length) &
      bind(c, name='pmtracedescribe_') result(code)
      import :: c_char, c_int, c_size_t
      character(kind=c_char), intent(in) :: tag(*), unit(*), text(*)
      integer(c_size_t), intent(in), value :: tag_length, unit_length, text_length
      integer(c_int) :: code
    end function
    function c_state(flags) bind(c, name='pmtracestate') result(old_flags)
      import :: c_int
      integer(c_int), intent(in), value :: flags
      integer(c_int) :: old_flags
    end function
    function c_flush(timeout) bind(c, name='pmtrace_flush') result(done)
      import :: c_double, c_int
      real(c_double), intent(in), value :: timeout
      integer(c_int) :: done
    end function
    function c_stats(stats, size) bind(c, name='pmtrace_stats') result(code)
      import :: c_int, c_size_t, pmtrace_statistics
      type(pmtrace_statistics), intent(out) :: stats
      integer(c_size_t), intent(in), value :: size
      integer(c_int) :: code
    end function
    subroutine c_complain_once(text) bind(c, name='pmtrace_complain_once')
      import :: c_char
      character(kind=c_char), intent(in) :: text(*)
    end subroutine
    subroutine c_error_message(code, text, length) bind(c, name='pmtraceerrstr_')
      import :: c_char, c_int, c_size_t
      integer(c_int), intent(in) :: code
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), intent(in), value :: length
    end subroutine
  end interface

contains

  function tag_named(name) result(tag)
    character(*), intent(in) :: name
    type(pmtrace_tag) :: tag
    tag%handle = c_tag(trim(name) // c_null_char)
  end function

  function tag_with_label(name, label, value) result(tag)
    character(*), intent(in) :: name, label, value
    type(pmtrace_tag) :: tag
    tag = tag_with_labels(name, [label], [value])
  end function

  ! If one array is longer, a label lacks its name or value: then the tag is invalid.
  function tag_with_labels(name, labels, values) result(tag)
    character(*), intent(in) :: name, labels(:), values(:)
    type(pmtrace_tag) :: tag
    character(len(labels) + 1, c_char), target :: label_text(size(labels))
    character(len(values) + 1, c_char), target :: value_text(size(values))
    type(label_texts) :: pairs(max(size(labels), size(values)))
    integer :: i
    do i = 1, size(labels)
      label_text(i) = trim(labels(i)) // c_null_char
      pairs(i)%name = c_loc(label_text(i))
    end do
    do i = 1, size(values)
      value_text(i) = trim(values(i)) // c_null_char
      pairs(i)%value = c_loc(value_text(i))
    end do
    tag%handle = c_tag_with(trim(name) // c_null_char, pairs, size(pairs, kind=c_size_t))
  end function

  ! True if somebody asked to see this transaction by itself: then its notes are kept.
  function pmtrace_is_captured(transaction) result(is_so)
    class(pmtrace_transaction), intent(in) :: transaction
    logical :: is_so
    is_so = c_is_captured(transaction%opaque) /= 0
  end function

  ! Gives the library's own counters.
  subroutine pmtrace_stats(stats)
    type(pmtrace_statistics), intent(out) :: stats
    integer(c_int) :: never_fails
    never_fails = c_stats(stats, c_sizeof(stats))
  end subroutine

  function message_int32(code) result(message)
    integer(int32), intent(in) :: code
    character(:), allocatable :: message
    character(256, c_char) :: text
    call c_error_message(code, text, len(text, c_size_t))
    message = trim(text)
  end function
  function message_int64(code) result(message)
    integer(int64), intent(in) :: code
    character(:), allocatable :: message
    message = message_int32(int(code, int32))
  end function

  function state_int32(flags) result(old_flags)
    integer(int32), intent(in) :: flags
    integer(int32) :: old_flags
    old_flags = c_state(flags)
  end function
  function state_int64(flags) result(old_flags)
    integer(int64), intent(in) :: flags
    integer(int64) :: old_flags
    old_flags = int(c_state(int(flags, c_int)), int64)
  end function

  function flush_real64(timeout) result(done)
    real(real64), intent(in) :: timeout
    logical :: done
    done = c_flush(timeout) == 1
  end function
  function flush_real32(timeout) result(done)
    real(real32), intent(in) :: timeout
    logical :: done
    done = c_flush(real(timeout, c_double)) == 1
  end function
  function flush_int32(timeout) result(done)
    integer(int32), intent(in) :: timeout
    logical :: done
    done = c_flush(real(timeout, c_double)) == 1
  end function
  function flush_int64(timeout) result(done)
    integer(int64), intent(in) :: timeout
    logical :: done
    done = c_flush(real(timeout, c_double)) == 1
  end function

  subroutine give(code, status)
    integer(c_int), intent(in) :: code
    integer(int32), intent(out), optional :: status
    if (present(status)) status = code
  end subroutine

  ! Without a status argument the caller would not notice that nothing is traced.
  subroutine give_of_tag(code, status)
    integer(c_int), intent(in) :: code
    integer(int32), intent(out), optional :: status
    if (present(status)) then
      status = code
    else if (code == PMTRACE_ERR_TAGNAME) then
      call c_complain_once('a pmtrace_tag that was never set, or whose name is blank, is not ' // &
        'traced: first write tag = pmtrace_tag(''name''), with a name of 1 to 254 bytes' // &
        c_null_char)
    end if
  end subroutine

  ! `written` has room for the longest text. Gives C's EINVAL if `text` has not.
  subroutine take_text(length, written, text, status)
    integer(c_int), intent(in) :: length
    character(*), intent(in) :: written
    character(*), intent(out) :: text
    integer(int32), intent(out), optional :: status
    text = ''
    if (len(text) < len(written) - 1) then
      call give(-22_c_int, status)
    else
      text = written(:length)
      call give(0_c_int, status)
    end if
  end subroutine

  ! Elemental: the only way to end all scopes in an array of any rank.
  impure elemental subroutine leave_scope(scope)
    type(pmtrace_scope), intent(inout) :: scope
    integer(c_int) :: never_fails
    call clear_unless_begun(scope)
    if (scope%opaque(1) /= 0) never_fails = c_end(scope%opaque)
  end subroutine

  ! OpenMP does not initialise a private copy: it contains old memory, perhaps parts of another
  ! scope.
  subroutine clear_unless_begun(scope)
    type(pmtrace_scope), intent(inout) :: scope
    if (scope%seal /= seal_of(scope)) scope%opaque = 0
  end subroutine

  ! Differs for each address and transaction.
  function seal_of(scope) result(seal)
    type(pmtrace_scope), intent(in), target :: scope
    integer(c_int64_t) :: seal
    seal = ieor(int(transfer(c_loc(scope%opaque), 0_c_intptr_t), c_int64_t), iparity(scope%opaque))
  end function

  include 'pcp_trace_kinds.inc'

end module
