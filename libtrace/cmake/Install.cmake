# SPDX-License-Identifier: LGPL-2.1-or-later
# Install rules and locations.
#
# Installs nothing where the dynamic linker or a compiler looks by default (ldconfig knows
# /usr/local/lib): the stock library has the same file name, and PCP's own programs need symbols
# that only that has. A program opts in by pkg-config, find_package or LD_LIBRARY_PATH;
# pcp-trace-system opts in the whole machine.
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)  # components are Debian's packages: see Package.cmake

set(trace_libdir ${CMAKE_INSTALL_LIBDIR}/pcp-trace)
set(trace_includedir ${CMAKE_INSTALL_INCLUDEDIR}/pcp-trace)
set(trace_pcdir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(trace_cmakedir ${CMAKE_INSTALL_LIBDIR}/cmake/pcp_trace)

set_target_properties(pcp_trace PROPERTIES EXPORT_NAME trace VERIFY_INTERFACE_HEADER_SETS ON)
set_target_properties(pcp_trace_static PROPERTIES EXPORT_NAME trace_static)
set_target_properties(pcp_trace_stub PROPERTIES EXPORT_NAME trace_stub)
# For programs that CMake installs: CMake then removes its own rpath from them, and the dynamic
# linker would find PCP's library.
cmake_path(ABSOLUTE_PATH trace_libdir BASE_DIRECTORY "$<INSTALL_PREFIX>" OUTPUT_VARIABLE rpath)
target_link_options(pcp_trace INTERFACE $<INSTALL_INTERFACE:LINKER:-rpath,${rpath}>)
target_link_options(pcp_trace_stub INTERFACE $<INSTALL_INTERFACE:LINKER:-rpath,${rpath}/stub>)

install(TARGETS pcp_trace pcp_trace_static EXPORT pcp_trace
        LIBRARY DESTINATION ${trace_libdir} COMPONENT library NAMELINK_COMPONENT dev
        ARCHIVE DESTINATION ${trace_libdir}
        FILE_SET HEADERS DESTINATION ${trace_includedir})
install(TARGETS pcp_trace_stub EXPORT pcp_trace
        LIBRARY DESTINATION ${trace_libdir}/stub COMPONENT library NAMELINK_COMPONENT dev
        FILE_SET HEADERS DESTINATION ${trace_includedir})

# Our own programs still find the library after the tree is moved.
set(PCP_TRACE_PMTRACE_INSTALL_DIR ${CMAKE_INSTALL_BINDIR} CACHE PATH "Where pmtrace is installed")
cmake_path(ABSOLUTE_PATH PCP_TRACE_PMTRACE_INSTALL_DIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
           OUTPUT_VARIABLE pmtrace_dir)
file(RELATIVE_PATH to_libdir ${pmtrace_dir} ${CMAKE_INSTALL_FULL_LIBDIR}/pcp-trace)
set_target_properties(pmtrace PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libdir}")
install(TARGETS pmtrace RUNTIME DESTINATION ${PCP_TRACE_PMTRACE_INSTALL_DIR} COMPONENT agent)
# In a directory of PATH, where the shell's `.` looks. Uses this pmtrace unless PATH has one that knows --run.
set(pmtrace_path ${pmtrace_dir}/pmtrace)
configure_file(tools/pcp-trace.sh.in tools/pcp-trace.sh @ONLY FILE_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/tools/pcp-trace.sh DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT agent)

# Relative to the .pc file if the directories are relative, so that the tree can be moved. Packages are not moved, and a
# program must find its library when the directory of .pc files has gone.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR PCP_TRACE_PACKAGE)
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
             BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE to_prefix)
  set(pc_prefix "\${pcfiledir}/${to_prefix}")
endif()
foreach(directory libdir includedir)
  set(pc_${directory} ${trace_${directory}})
  if(NOT IS_ABSOLUTE ${pc_${directory}})
    set(pc_${directory} "\${prefix}/${pc_${directory}}")
  endif()
endforeach()
foreach(package libpcp_trace libpcp_trace_static)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${trace_pcdir})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pcp_traceConfig.cmake.in
                              pcp_traceConfig.cmake INSTALL_DESTINATION ${trace_cmakedir})
write_basic_package_version_file(pcp_traceConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pcp_traceConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/pcp_traceConfigVersion.cmake
        DESTINATION ${trace_cmakedir})
install(EXPORT pcp_trace FILE pcp_traceTargets.cmake NAMESPACE pcp:: DESTINATION ${trace_cmakedir})

# One page for all calls; the other names redirect to it.
set(pages pmtracebegin pmtraceend pmtraceabort pmtracepoint pmtraceobs pmtracecounter pmtracestate
          pmtracecount pmtraceerrstr pmtrace_tag pmtrace_point pmtrace_observe pmtrace_count pmtrace_begin
          pmtrace_end pmtrace_abort pmtrace_flush pmtrace_mmv pmtrace_stats
          pmtraceadd pmtrace_add pmtrace_tag_with pmtrace_tag_text pmtrace_describe
          pmtrace_begin_from pmtrace_begin_under pmtrace_attach pmtrace_detach pmtrace_context
          pmtrace_context_state pmtrace_is_captured pmtrace_note pmtrace_note_number pmtrace_link
          pmtrace_want
          pmtrace_fail pmtrace_end_as pmtrace_abort_as pmtrace_fail_as pmtrace_tag_add_labels
          pmtrace_begin_at pmtrace_begin_from_at pmtrace_begin_under_at PMTRACE_SCOPE PMTRACE_FUNCTION)
foreach(page ${pages})
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/man3/${page}.3 ".so man3/pmtrace.3\n")
endforeach()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/man1/pcp-trace.sh.1 ".so man1/pmtrace.1\n")
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES man/pmtrace.1 ${CMAKE_CURRENT_BINARY_DIR}/man1/pcp-trace.sh.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT agent)
install(FILES man/pmtrace.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/demos/
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/demos USE_SOURCE_PERMISSIONS
        PATTERN CMakeLists.txt EXCLUDE REGEX "/(live_table|record|show|spans)\\.py$" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)
