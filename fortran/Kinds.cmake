# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes the module's sources. Each subroutine for a value of the kind real64 gets twins for the other kinds. Then each
# with an optional status of 32 bits gets a twin with a status of 64 bits, NAME_wide. A twin calls the subroutine and
# converts. A line `module procedure` with one name gets lines for the twins.
file(READ pcp_trace.f90.in module)
file(READ pcp_trace_kinds.inc.in calls)

# A subroutine down to its status: its name, its other arguments, and their declarations.
set(declarations "((    [a-z0-9_(),* ]+ :: [a-z, ]+\n)*)")
set(value "    real[(]real64[)], intent[(]in[)] :: value\n")
set(status "    integer[(]int32[)], intent[(]out[)], optional :: status\n")
set(with_value "  subroutine ([a-z_]+)_real64[(]([a-z, ]*)value, status[)]\n${declarations}${value}${status}")
set(with_status "  subroutine ([a-z0-9_]+)[(]([a-z, ]*)status[)]\n${declarations}${status}")

# Transactions that began earlier: each begin with a tag gets a twin with a start, NAME_at.
foreach(name tag scope from from_state scope_from scope_from_state under scope_under)
  string(FIND "${calls}" "  subroutine begin_${name}(tag, " first)
  string(SUBSTRING "${calls}" ${first} -1 twin)
  string(FIND "${twin}" "  end subroutine\n" length)
  string(SUBSTRING "${twin}" 0 ${length} twin)
  string(REGEX REPLACE "(subroutine|call) (begin_[a-z_]+)[(]tag, " "\\1 \\2_at(tag, start, " twin "${twin}")
  string(REGEX REPLACE "(c_begin[a-z_]*)[(]tag%handle, " "\\1_at(tag%handle, start, " twin "${twin}")
  string(REPLACE " :: tag\n" " :: tag\n    integer(int64), intent(in) :: start\n" twin "${twin}")
  string(APPEND calls "\n${twin}  end subroutine\n")
endforeach()

# The totals and the increments of counters are passed on as observations are.
string(REGEX MATCH "  subroutine observe_tag_.*  subroutine observe_name_[^!]*" observations "${calls}")
foreach(verb count add)
  string(REPLACE observe ${verb} twins "${observations}")
  string(APPEND calls "\n${twins}")
endforeach()

# Appends a twin of each subroutine that the expression finds.
function(append_twins expression twin)
  string(REGEX MATCHALL "${expression}" found "${calls}")
  list(JOIN found "\n" found)
  string(REGEX REPLACE "${expression}" "${twin}" twins "${found}")
  set(calls "${calls}\n${twins}" PARENT_SCOPE)
endfunction()

foreach(type "integer(int64)" "integer(int32)" "integer(int16)" "integer(int8)" "real(real32)")
  string(REGEX MATCH "[a-z]+[0-9]+" kind ${type})
  append_twins("${with_value}" "  subroutine \\1_${kind}(\\2value, status)
\\3    ${type}, intent(in) :: value
    integer(int32), intent(out), optional :: status
    call \\1_real64(\\2real(value, real64), status)
  end subroutine
")
  string(REGEX REPLACE "(    module procedure [a-z_]+)_real64\n" "\\0\\1_${kind}\n" module "${module}")
endforeach()

append_twins("${with_status}" "  subroutine \\1_wide(\\2status)
\\3    integer(int64), intent(out) :: status
    integer(int32) :: code
    call \\1(\\2code)
    status = int(code, int64)
  end subroutine
")
string(REGEX REPLACE "(    module procedure [a-z0-9_]+)\n" "\\0\\1_wide\n" module "${module}")

file(CONFIGURE OUTPUT pcp_trace.f90 CONTENT "${module}" @ONLY)
file(CONFIGURE OUTPUT pcp_trace_kinds.inc CONTENT "${calls}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS pcp_trace.f90.in pcp_trace_kinds.inc.in)
