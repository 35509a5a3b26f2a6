# SPDX-License-Identifier: LGPL-2.1-or-later
# CPack runs this once all components are installed below its temporary directory, before it packs them.
# For the sources too, of which there is nothing to finish.
if(CPACK_GENERATOR STREQUAL DEB)
  foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} upper)
    execute_process(COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/finish.sh ${CPACK_TEMPORARY_DIRECTORY}/${component}
                            ${CPACK_DEBIAN_${upper}_PACKAGE_NAME} ${CPACK_PACKAGE_VERSION}
                            ${CPACK_TRACE_CHANGELOGS}
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()
