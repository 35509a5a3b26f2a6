# SPDX-License-Identifier: LGPL-2.1-or-later
# Standalone Asio: headers only, and Debian ships no CMake package for them. Gives Asio::asio.
find_path(ASIO_INCLUDE_DIR asio.hpp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio REQUIRED_VARS ASIO_INCLUDE_DIR)
if(Asio_FOUND AND NOT TARGET Asio::asio)
  add_library(Asio::asio INTERFACE IMPORTED)
  target_include_directories(Asio::asio SYSTEM INTERFACE ${ASIO_INCLUDE_DIR})
  # Asio 1.22 picks aligned_alloc or operator new by earlier includes: without this, files with
  # different includes would free each other's memory wrongly.
  target_compile_definitions(Asio::asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED
                             ASIO_DISABLE_STD_ALIGNED_ALLOC)
  target_link_libraries(Asio::asio INTERFACE Threads::Threads)
endif()
