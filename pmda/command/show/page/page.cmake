# SPDX-License-Identifier: LGPL-2.1-or-later
# Assembles the page without its data, as page_frame.cpp in the build directory.
find_file(DYGRAPHS_SCRIPT dygraph.min.js PATHS /usr/share/javascript/dygraphs NO_DEFAULT_PATH REQUIRED
          DOC "The chart library that pages have inside (Debian: libjs-dygraphs)")
set(page_scripts data.js format.js names.js view.js ticks.js labels.js table.js thinning.js chart.js heat.js shapes.js detail.js figures.js groups.js
    columns.js cards.js load.js comparison.js compared_shapes.js waterfall.js spans.js exemplars.js page.js)
set(page_files ${page_scripts} page.html page.css)
list(TRANSFORM page_files PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_files} ${DYGRAPHS_SCRIPT})

set(PAGE_SCRIPT "'use strict';\n")
foreach(script ${page_scripts})
  file(READ ${CMAKE_CURRENT_LIST_DIR}/${script} text)
  string(APPEND PAGE_SCRIPT "${text}")
endforeach()
file(READ ${CMAKE_CURRENT_LIST_DIR}/page.css PAGE_STYLE)
file(READ ${DYGRAPHS_SCRIPT} PAGE_DYGRAPHS)
string(REPLACE "//# sourceMappingURL=dygraph.min.js.map" "" PAGE_DYGRAPHS "${PAGE_DYGRAPHS}")
file(READ ${CMAKE_CURRENT_LIST_DIR}/page.html page)
string(FIND "${page}" "@PAGE_DATA@" data_at)
string(SUBSTRING "${page}" 0 ${data_at} before)
string(SUBSTRING "${page}" ${data_at} -1 after)
string(REPLACE "@PAGE_DATA@" "" after "${after}")
string(CONFIGURE "${before}" PAGE_BEFORE_DATA @ONLY)
string(CONFIGURE "${after}" PAGE_AFTER_DATA @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/page_frame.cpp.in page_frame.cpp @ONLY)
