# SPDX-License-Identifier: LGPL-2.1-or-later
# Compile options of all targets: interface targets, linked privately, never installed.
find_package(Threads REQUIRED)

add_library(trace_common_specs INTERFACE)
target_compile_features(trace_common_specs INTERFACE cxx_std_20 c_std_11)
target_compile_options(trace_common_specs INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>)
# g++ 12 warns about string concatenation as an overlapping copy (GCC bug 105651).
target_compile_options(trace_common_specs INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
# Files in a unity build declare the same local names.
if(CMAKE_UNITY_BUILD)
  target_compile_options(trace_common_specs INTERFACE -Wno-shadow)
endif()
# The static library hides all but its API, which does not work for unique symbols.
target_compile_options(trace_common_specs INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
if(PCP_TRACE_SANITIZE)
  target_compile_options(trace_common_specs INTERFACE
    -fsanitize=${PCP_TRACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Its check of a pointer's type opens a pipe, which a test's program may close (closing.c).
  if(PCP_TRACE_SANITIZE MATCHES "undefined")
    target_compile_options(trace_common_specs INTERFACE -fno-sanitize=vptr)
  endif()
  target_link_options(trace_common_specs INTERFACE -fsanitize=${PCP_TRACE_SANITIZE})
  # An empty optional or an index beyond the end stops the program, as libstdc++ 16 does by itself.
  target_compile_definitions(trace_common_specs INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(PCP_TRACE_COVERAGE)
  target_compile_options(trace_common_specs INTERFACE
    --coverage -fprofile-update=atomic "-fprofile-filter-files=(pmda|libtrace)/")
  target_link_options(trace_common_specs INTERFACE --coverage)
endif()

add_library(trace_specs INTERFACE)
target_link_libraries(trace_specs INTERFACE trace_common_specs)
# Checks which mutex guards what: see libtrace/base/mutex.hpp.
target_compile_options(trace_specs INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>)
if(PCP_TRACE_FUZZ)  # tells a fuzzer what its inputs have reached
  target_compile_options(trace_specs INTERFACE -fsanitize=fuzzer-no-link)
endif()

# For tests: optimised less and checked less, to compile faster. Only inline functions
# of the code under test are affected: the linker may keep the copy of a test's file.
add_library(trace_test_specs INTERFACE)
target_compile_options(trace_test_specs INTERFACE
  $<$<CONFIG:Release>:-O1> $<$<CONFIG:Debug>:-O0>)
target_link_libraries(trace_test_specs INTERFACE trace_common_specs)
if(PCP_TRACE_SANITIZE MATCHES "undefined")
  # A null pointer ends a test by itself. A library of its own: this has to follow the other -fsanitize.
  add_library(trace_test_sanitizer INTERFACE)
  target_compile_options(trace_test_sanitizer INTERFACE -fno-sanitize=null,alignment,object-size)
  target_link_libraries(trace_test_specs INTERFACE trace_test_sanitizer)
endif()
