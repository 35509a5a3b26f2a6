# SPDX-License-Identifier: LGPL-2.1-or-later
# moodycamel's ConcurrentQueue: headers only. Gives ConcurrentQueue::concurrentqueue. The header is in
# concurrentqueue/ with version 1.0.3, in concurrentqueue/moodycamel/ with 1.0.4, elsewhere in moodycamel/.
find_path(CONCURRENTQUEUE_INCLUDE_DIR concurrentqueue.h
          PATH_SUFFIXES concurrentqueue/moodycamel concurrentqueue moodycamel)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ConcurrentQueue REQUIRED_VARS CONCURRENTQUEUE_INCLUDE_DIR)
if(ConcurrentQueue_FOUND AND NOT TARGET ConcurrentQueue::concurrentqueue)
  add_library(ConcurrentQueue::concurrentqueue INTERFACE IMPORTED)
  target_include_directories(ConcurrentQueue::concurrentqueue SYSTEM
                             INTERFACE ${CONCURRENTQUEUE_INCLUDE_DIR})
endif()
