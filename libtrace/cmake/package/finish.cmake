# SPDX-License-Identifier: LGPL-2.1-or-later
# CPack runs this once all components are installed below its temporary directory, before it packs them.
# CPack runs it for the sources, too, which need nothing.
if(CPACK_GENERATOR STREQUAL DEB)
  foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} upper)
    execute_process(COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/finish.sh ${CPACK_TEMPORARY_DIRECTORY}/${component}
                            ${CPACK_DEBIAN_${upper}_PACKAGE_NAME} ${CPACK_PACKAGE_VERSION}
                            ${CPACK_TRACE_CHANGELOGS}
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()
