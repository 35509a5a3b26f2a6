# SPDX-License-Identifier: LGPL-2.1-or-later
# Registers end-to-end tests in Python, which run the built programs with a pmcd of their own:
# trace_script_test(name label script arguments...)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_library(STOCK_TRACE_LIBRARY pcp_trace REQUIRED)
find_path(STOCK_TRACE_INCLUDE_DIR pcp/trace_dev.h REQUIRED)
set(TRACE_TEST_PROGRAMS ${PROJECT_BINARY_DIR}/tests/programs)
set(TRACE_RUN_FROM ${TRACE_TEST_PROGRAMS})
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(TRACE_RUN_FROM ${PROJECT_BINARY_DIR}/tests/emulated)
endif()

# Gives the file that scripts run for a program of ours: the program or, if it is built for another processor, a script
# that runs it in the emulator: trace_runnable(target variable)
function(trace_runnable target variable)
  set(${variable} $<TARGET_FILE:${target}> PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    set(${variable} ${TRACE_RUN_FROM}/${target} PARENT_SCOPE)
    get_property(is_there GLOBAL PROPERTY trace_runnable_${target})
    if(is_there)
      return()
    endif()
    set_property(GLOBAL PROPERTY trace_runnable_${target} ON)
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
    file(GENERATE OUTPUT ${TRACE_RUN_FROM}/${target}
         CONTENT "#!/bin/sh\nexec ${emulator} $<TARGET_FILE:${target}> \"$@\"\n"
         FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endfunction()

function(trace_script_test name label script)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/support/run_tests.py
                                ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
  trace_runnable(pmdatrace agent)
  trace_runnable(pmtrace pmtrace)
  trace_runnable(pcp-trace command)
  set(environment
      PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support
      TRACE_STOCK_LIBRARY=${STOCK_TRACE_LIBRARY}
      TRACE_LIBRARY=$<TARGET_FILE_DIR:pcp_trace>/libpcp_trace.so.2
      TRACE_AGENT=${agent}
      TRACE_NAMESPACE=${PROJECT_SOURCE_DIR}/pmda/root
      TRACE_PMTRACE=${pmtrace}
      TRACE_COMMAND=${command}
      TRACE_PROGRAMS=${TRACE_RUN_FROM})
  if(PCP_TRACE_SANITIZE)  # some scripts preload a library before the run-time library
    list(APPEND environment ASAN_OPTIONS=verify_asan_link_order=0)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label} COST 20 ENVIRONMENT "${environment}")
endfunction()

# One test for each class of a script, so that they run in parallel: trace_script_tests(name label script)
function(trace_script_tests name label script)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
  file(STRINGS ${script} classes REGEX "^class [A-Za-z]+")
  foreach(class ${classes})
    string(REGEX REPLACE "^class ([A-Za-z]+).*" "\\1" class ${class})
    if(NOT class MATCHES "TestCase$")
      trace_script_test(${name}.${class} ${label} ${script} ${class})
    endif()
  endforeach()
endfunction()

# Adds a program like those of PCP's users: with PCP's header and library, and no path to another one.
function(trace_stock_program name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} SYSTEM PRIVATE ${STOCK_TRACE_INCLUDE_DIR})
  target_link_libraries(${name} PRIVATE ${STOCK_TRACE_LIBRARY})
  _trace_test_program(${name})
endfunction()

# Adds a program like those of our library's users; it has no path to the library either.
function(trace_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE pcp::trace)
  _trace_test_program(${name})
endfunction()

function(_trace_test_program name)
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  target_link_libraries(${name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  if(PCP_TRACE_SANITIZE)  # a sanitized library needs the run-time library, which comes with the program
    target_link_options(${name} PRIVATE -fsanitize=${PCP_TRACE_SANITIZE})
  endif()
  set_target_properties(${name} PROPERTIES SKIP_BUILD_RPATH ON C_STANDARD 11
                        RUNTIME_OUTPUT_DIRECTORY ${TRACE_TEST_PROGRAMS})
  trace_runnable(${name} unused)
endfunction()

# Adds a library that tests preload into such programs.
function(trace_preloaded_library name)
  add_library(${name} MODULE ${ARGN})
  target_include_directories(${name} SYSTEM PRIVATE ${STOCK_TRACE_INCLUDE_DIR})
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  set_target_properties(${name} PROPERTIES PREFIX "" C_STANDARD 11
                        LIBRARY_OUTPUT_DIRECTORY ${TRACE_TEST_PROGRAMS})
endfunction()
