# SPDX-License-Identifier: LGPL-2.1-or-later
# How everything here is compiled: interface targets, linked privately, never installed.
find_package(Threads REQUIRED)

add_library(trace_common_specs INTERFACE)
target_compile_features(trace_common_specs INTERFACE cxx_std_20 c_std_11)
target_compile_options(trace_common_specs INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>)
# g++ 12 takes the addition of strings for an overlapping copy (GCC bug 105651).
target_compile_options(trace_common_specs INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
# Files that are compiled as one each name their own locals.
if(CMAKE_UNITY_BUILD)
  target_compile_options(trace_common_specs INTERFACE -Wno-shadow)
endif()
# The static library hides all but its API, which does not work for symbols of that sort.
target_compile_options(trace_common_specs INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
if(PCP_TRACE_SANITIZE)
  target_compile_options(trace_common_specs INTERFACE
    -fsanitize=${PCP_TRACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(trace_common_specs INTERFACE -fsanitize=${PCP_TRACE_SANITIZE})
endif()
if(PCP_TRACE_COVERAGE)
  target_compile_options(trace_common_specs INTERFACE
    --coverage -fprofile-update=atomic "-fprofile-filter-files=(pmda|libtrace)/")
  target_link_options(trace_common_specs INTERFACE --coverage)
endif()

add_library(trace_specs INTERFACE)
target_link_libraries(trace_specs INTERFACE trace_common_specs)
# What a mutex guards: see libtrace/wire/mutex.hpp.
target_compile_options(trace_specs INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>)
if(PCP_TRACE_FUZZ)  # tells a fuzzer what its inputs have reached
  target_compile_options(trace_specs INTERFACE -fsanitize=fuzzer-no-link)
endif()

# For tests: they are run the sooner if they are compiled quickly. What they test is compiled as ever.
add_library(trace_test_specs INTERFACE)
target_link_libraries(trace_test_specs INTERFACE trace_common_specs)
target_compile_options(trace_test_specs INTERFACE
  $<$<CONFIG:Release>:-O1> $<$<CONFIG:Debug>:-O0>)
