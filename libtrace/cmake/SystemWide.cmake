# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs pcp-trace-system, which switches a machine from PCP's library and agent to these.
set(sbindir ${CMAKE_INSTALL_FULL_SBINDIR})
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${sbindir}
           OUTPUT_VARIABLE to_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_BINDIR BASE_DIRECTORY ${sbindir}
           OUTPUT_VARIABLE to_bindir)
cmake_path(ABSOLUTE_PATH PCP_TRACE_PMDA_INSTALL_DIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
           OUTPUT_VARIABLE pmdadir)
cmake_path(RELATIVE_PATH pmdadir BASE_DIRECTORY ${sbindir} OUTPUT_VARIABLE to_pmdadir)
configure_file(${PROJECT_SOURCE_DIR}/libtrace/tools/pcp-trace-system.in pcp-trace-system @ONLY)
install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/pcp-trace-system
        DESTINATION ${CMAKE_INSTALL_SBINDIR} COMPONENT agent)
install(FILES ${PROJECT_SOURCE_DIR}/libtrace/man/pcp-trace-system.8
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT agent)
