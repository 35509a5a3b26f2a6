# SPDX-License-Identifier: LGPL-2.1-or-later
# Performance Co-Pilot's development files. Gives PCP::pcp and PCP::pmda, and PCP_PMDAS_DIR and
# PCP_PMDASADM_DIR from this machine's pcp.conf.
find_path(PCP_INCLUDE_DIR pcp/pmapi.h)
find_library(PCP_LIBRARY pcp)
find_library(PCP_PMDA_LIBRARY pcp_pmda)
foreach(variable PCP_PMDAS_DIR PCP_PMDASADM_DIR)
  if(NOT ${variable} AND EXISTS /etc/pcp.conf)
    file(STRINGS /etc/pcp.conf line REGEX "^${variable}=")
    string(REPLACE "${variable}=" "" value "${line}")
    set(${variable} "${value}" CACHE PATH "As in /etc/pcp.conf")
  endif()
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PCP
  REQUIRED_VARS PCP_LIBRARY PCP_PMDA_LIBRARY PCP_INCLUDE_DIR)
if(PCP_FOUND AND NOT TARGET PCP::pcp)
  add_library(PCP::pcp UNKNOWN IMPORTED)
  set_target_properties(PCP::pcp PROPERTIES IMPORTED_LOCATION ${PCP_LIBRARY}
                        INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${PCP_INCLUDE_DIR}
                        INTERFACE_INCLUDE_DIRECTORIES ${PCP_INCLUDE_DIR})
  add_library(PCP::pmda UNKNOWN IMPORTED)
  set_target_properties(PCP::pmda PROPERTIES IMPORTED_LOCATION ${PCP_PMDA_LIBRARY}
                        INTERFACE_LINK_LIBRARIES PCP::pcp)
endif()
