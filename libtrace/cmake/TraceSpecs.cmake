# How everything here is compiled: one interface target, linked privately, never installed.
find_package(Threads REQUIRED)

add_library(trace_specs INTERFACE)
target_compile_features(trace_specs INTERFACE cxx_std_20 c_std_11)
target_compile_options(trace_specs INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>)
# g++ 12 takes the addition of strings for an overlapping copy (GCC bug 105651).
target_compile_options(trace_specs INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
# The static library hides all but its API, which does not work for symbols of that sort.
target_compile_options(trace_specs INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
if(PCP_TRACE_SANITIZE)
  target_compile_options(trace_specs INTERFACE
    -fsanitize=${PCP_TRACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(trace_specs INTERFACE -fsanitize=${PCP_TRACE_SANITIZE})
endif()
if(PCP_TRACE_COVERAGE)
  target_compile_options(trace_specs INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(trace_specs INTERFACE --coverage)
endif()
