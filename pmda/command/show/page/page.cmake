# SPDX-License-Identifier: LGPL-2.1-or-later
# Assembles the page without its data, as page_frame.cpp in the build directory.
find_file(DYGRAPHS_SCRIPT dygraph.min.js PATHS /usr/share/javascript/dygraphs NO_DEFAULT_PATH REQUIRED
          DOC "The chart library that pages have inside (Debian: libjs-dygraphs)")
set(page_scripts data.js format.js view.js labels.js table.js thinning.js chart.js heat.js shapes.js detail.js figures.js groups.js
    columns.js cards.js load.js host.js comparison.js waterfall.js trace_filter.js why.js spans.js page.js)
set(page_files ${page_scripts} page.html page.css)
list(TRANSFORM page_files PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_files} ${DYGRAPHS_SCRIPT})

# The scripts are modules for editors and for the test of their types. A page from a file cannot
# import any, so here they become one script.
set(PAGE_SCRIPT "'use strict';\n")
foreach(script ${page_scripts})
  file(READ ${CMAKE_CURRENT_LIST_DIR}/${script} text)
  string(REGEX REPLACE "import {[^}]*} from '[a-z_./]*';\n" "" text "${text}")
  string(REGEX REPLACE "(\n)export " "\\1" text "${text}")
  string(APPEND PAGE_SCRIPT "${text}")
endforeach()
file(READ ${CMAKE_CURRENT_LIST_DIR}/page.css PAGE_STYLE)
file(READ ${DYGRAPHS_SCRIPT} PAGE_DYGRAPHS)
string(REPLACE "//# sourceMappingURL=dygraph.min.js.map" "" PAGE_DYGRAPHS "${PAGE_DYGRAPHS}")

# The page names its scripts and its style by their digests, so that a browser takes no other.
function(page_digest text result)
  set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 digest "${text}")
  string(REGEX MATCHALL "..." triples "${digest}00")  # two letters of base64 each
  set(base64 "")
  foreach(triple ${triples})
    math(EXPR high "0x${triple} >> 6")
    math(EXPR low "0x${triple} & 63")
    string(SUBSTRING ${letters} ${high} 1 first)
    string(SUBSTRING ${letters} ${low} 1 second)
    string(APPEND base64 ${first}${second})
  endforeach()
  string(REGEX REPLACE ".$" "=" base64 ${base64})
  set(${result} ${base64} PARENT_SCOPE)
endfunction()
page_digest("${PAGE_DYGRAPHS}" PAGE_DYGRAPHS_DIGEST)
page_digest("${PAGE_SCRIPT}" PAGE_SCRIPT_DIGEST)
page_digest("${PAGE_STYLE}" PAGE_STYLE_DIGEST)
file(READ ${CMAKE_CURRENT_LIST_DIR}/page.html page)
string(FIND "${page}" "@PAGE_DATA@" data_at)
string(SUBSTRING "${page}" 0 ${data_at} before)
string(SUBSTRING "${page}" ${data_at} -1 after)
string(REPLACE "@PAGE_DATA@" "" after "${after}")
string(CONFIGURE "${before}" PAGE_BEFORE_DATA @ONLY)
string(CONFIGURE "${after}" PAGE_AFTER_DATA @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/page_frame.cpp.in page_frame.cpp @ONLY)
