# SPDX-License-Identifier: LGPL-2.1-or-later
# Debian packages, one for each component, which install beside PCP's own: no file of theirs has the name of one
# of PCP's. `./run package` makes them; the preset `package` says where things lie. finish.sh does what debhelper would.
set(CPACK_COMPONENTS_ALL agent library dev)
if(PCP_TRACE_FORTRAN)
  list(APPEND CPACK_COMPONENTS_ALL fortran)
endif()
if(PCP_TRACE_JAVA)
  list(APPEND CPACK_COMPONENTS_ALL java)
endif()
if(PCP_TRACE_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
if(NOT TARGET pmdatrace OR (PCP_TRACE_FORTRAN AND NOT TARGET pcp_trace_fortran)
   OR (PCP_TRACE_JAVA AND NOT TARGET pcp_trace_jar) OR (PCP_TRACE_PYTHON AND NOT TARGET pcp_trace_python))
  message(FATAL_ERROR
          "Packages are made of all parts that are not switched off: a JDK, gfortran or python3-dev is missing")
endif()

# Debian's tools read the same two variables.
set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
if(maintainer STREQUAL " <>")
  cmake_host_system_information(RESULT host QUERY FQDN)
  set(maintainer "pcp-trace builder <root@${host}>")
endif()
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
configure_file(${CMAKE_CURRENT_LIST_DIR}/package/changelog.Debian.in package/changelog.Debian @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/libtrace/docs/changelog.md package/changelog COPYONLY)
set(CPACK_TRACE_CHANGELOGS ${CMAKE_CURRENT_BINARY_DIR}/package)  # for finish.cmake

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pcp-trace)
set(CPACK_PACKAGE_CONTACT ${maintainer})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package/finish.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_THREADS 0)  # as many as there are processors
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_NAME} built using CMake")  # else CPack has it before each description

set(beside ".
It is installed beside PCP's own library and agent, and takes their place
only where it is asked to.")
# trace_package(COMPONENT NAME SECTION DEPENDS DESCRIPTION): the first line of the description is the summary.
function(trace_package component name section depends description)
  string(TOUPPER ${component} upper)
  foreach(field NAME SECTION DEPENDS)
    string(TOLOWER ${field} value)
    set(CPACK_DEBIAN_${upper}_PACKAGE_${field} ${${value}} PARENT_SCOPE)
  endforeach()
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}\n${beside}" PARENT_SCOPE)
endfunction()

trace_package(agent pcp-trace utils pcp
"Application tracing for Performance Co-Pilot: agent and command
The agent shows PCP's monitors what traced programs do: counts, rates,
times and percentiles of their transactions, and single requests. The
command pcp trace records a program without any setup, and shows where
its time went. pmtrace is for shell scripts.")
trace_package(library pcp-trace-library libs ""
"Application tracing for Performance Co-Pilot: library
Programs that mark transactions, points, observations and counters call
this library. A call costs nanoseconds, and counts stay exact.")
trace_package(dev pcp-trace-dev libdevel "libc6-dev | libc-dev, g++ | c++-compiler"
"Application tracing for Performance Co-Pilot: for C and C++ programs
Headers, the static library, manual pages, and files for pkg-config and
CMake.")
trace_package(fortran pcp-trace-fortran libdevel gfortran
"Application tracing for Performance Co-Pilot: for Fortran programs
The module pcp_trace for gfortran, and its source for other compilers.")
trace_package(java pcp-trace-java java "default-jre-headless | java17-runtime-headless"
"Application tracing for Performance Co-Pilot: for Java programs
The Java package io.pcp.trace with its native library, and its Javadoc.")
trace_package(python python3-pcp-trace python "python3 (>= 3.11)"
"Application tracing for Performance Co-Pilot: for Python programs
The package pcp_trace, with types, for asyncio, threads and processes.")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS pkg-config)
set(CPACK_COMPONENT_AGENT_DEPENDS library)
set(CPACK_COMPONENT_DEV_DEPENDS library)
set(CPACK_COMPONENT_FORTRAN_DEPENDS dev)
set(CPACK_COMPONENT_PYTHON_DEPENDS library)
set(scripts ${PROJECT_SOURCE_DIR}/pmda/package)
set(CPACK_DEBIAN_AGENT_PACKAGE_CONTROL_EXTRA ${scripts}/postinst ${scripts}/prerm ${scripts}/postrm)
set(scripts ${PROJECT_SOURCE_DIR}/libtrace/python/package)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${scripts}/postinst ${scripts}/prerm)
# Packages of programs that are linked with the library then depend on this.
file(WRITE ${PROJECT_BINARY_DIR}/package/shlibs
     "libpcp_trace ${PROJECT_VERSION_MAJOR} pcp-trace-library (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/shlibs)

set(CPACK_SOURCE_GENERATOR TXZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME pcp-trace-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES "^${PROJECT_SOURCE_DIR}/build" "/\\\\.git(/|$)" "/\\\\.cache/" /__pycache__/ /compile_commands.json$)
include(CPack)
