# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=file.cpp -DNAME=OpenCL...Source -DSOURCES="a.h;b.cl" -DITEMS="a.h" -DDOUBLES=ON|OFF -P EmbedKernels.cmake
# Joins the kernel sources, in this order, into one C++ string: the installed library needs no files. Behind them:
# - All structures are compared with the host's, but for those of pointers, which lanes make for themselves: see OpenCLStructSizes.h.
# - Each item kernel (see src/kernels/core/ItemKernel.h) that ITEMS declare gets an entry point, and a function that leads to it.
cmake_policy(VERSION 3.16)
set(_checks "")
set(_entries "")
set(_functions "")
set(_include "")
if(ITEMS)
  set(_include "\n#include \"engine/runtime/ForEachItem.h\"\n")
endif()
set(_text "// Made by EmbedKernels.cmake from the kernel sources; do not edit.
#include \"opencl/runtime/OpenCLProgram.h\"
${_include}
const char * const gpureg::${NAME} =
")

# Appends the entry point of an item kernel, whose function is in a text without comments.
function(append_entry function text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  if(NOT text MATCHES "GPUREG_(REAL_)?FUNCTION void ${function}\\(([^()]*), i64 [A-Za-z0-9_]+\\)")
    message(FATAL_ERROR "${function} is declared an item kernel, but no function that ends with the item")
  endif()
  string(REPLACE "," ";" _parameters "${CMAKE_MATCH_2}")
  set(_declared "const i64 itemCount")
  set(_passed "")
  foreach(_parameter IN LISTS _parameters)
    string(STRIP "${_parameter}" _parameter)
    if(_parameter MATCHES "^GPUREG_GLOBAL (.*[^ ]) \\* ([A-Za-z0-9_]+)$")
      string(REPLACE "void" "char" _type "${CMAKE_MATCH_1}")
      string(APPEND _declared ", __global ${_type} * ${CMAKE_MATCH_2}, const i64 ${CMAKE_MATCH_2}First")
      string(APPEND _passed "${CMAKE_MATCH_2} + ${CMAKE_MATCH_2}First, ")
    elseif(_parameter MATCHES "^const ([A-Za-z0-9_]+) \\* ([A-Za-z0-9_]+)$")
      string(APPEND _declared ", const ${CMAKE_MATCH_1} ${CMAKE_MATCH_2}")
      string(APPEND _passed "&${CMAKE_MATCH_2}, ")
    elseif(_parameter MATCHES "^([A-Za-z0-9_]+) ([A-Za-z0-9_]+)$")
      string(APPEND _declared ", const ${CMAKE_MATCH_1} ${CMAKE_MATCH_2}")
      string(APPEND _passed "${CMAKE_MATCH_2}, ")
    else()
      message(FATAL_ERROR "${function} is declared an item kernel; it cannot have the parameter ${_parameter}")
    endif()
  endforeach()
  string(APPEND _entries "GPUREG_KERNEL void
${function}Kernel(${_declared})
{
  if (FindItem() < itemCount)
  {
    ${function}(${_passed}FindItem());
  }
}
")
  string(APPEND _functions "
namespace gpureg
{
namespace kernels
{
struct ${function}Kernel;
}
template <>
const void *
GetOpenCLEntry<kernels::${function}Kernel>()
{
  static const OpenCLItemSource source = { ${NAME}, ${_needs_doubles} };
  return &source;
}
}
")
  set(_entries "${_entries}" PARENT_SCOPE)
  set(_functions "${_functions}" PARENT_SCOPE)
endfunction()

set(_needs_doubles false)
if(DOUBLES)
  set(_needs_doubles true)
endif()
foreach(_file IN LISTS SOURCES)
  file(READ "${_file}" _content)
  # Comments may contain formulas, but some compilers accept only ASCII.
  string(REGEX REPLACE "[^ -~\t\n]+" "?" _content "${_content}")
  get_filename_component(_name "${_file}" NAME)
  string(APPEND _text "R\"GPUREG(#line 1 \"${_name}\"\n${_content})GPUREG\"\n")
  # Removes comments, and characters with a meaning in CMake's lists.
  string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" "" _content "${_content}")
  string(REGEX REPLACE "//[^\n]*" "" _content "${_content}")
  string(REGEX REPLACE "[][;\\]" " " _content "${_content}")
  string(REGEX MATCHALL "typedef struct [A-Za-z0-9_]+[ \n]*{[^{}*]*}" _structs "${_content}")
  foreach(_struct IN LISTS _structs)
    string(REGEX REPLACE "typedef struct ([A-Za-z0-9_]+).*" "\\1" _struct "${_struct}")
    string(APPEND _checks
           "typedef char ${_struct}IsLaidOutAlike[sizeof(${_struct}) == GPUREG_BYTES_OF_${_struct} ? 1 : -1];\n")
  endforeach()
  if(_file IN_LIST ITEMS)
    string(REGEX MATCHALL "GPUREG_(REAL_)?ITEM_KERNEL\\([A-Za-z0-9_]+" _declarations "${_content}")
    foreach(_declaration IN LISTS _declarations)
      string(REGEX REPLACE ".*\\(" "" _function "${_declaration}")
      append_entry("${_function}" "${_content}")
    endforeach()
  endif()
endforeach()
string(APPEND _text "R\"GPUREG(${_checks}${_entries})GPUREG\"\n")
file(WRITE "${OUTPUT}" "${_text};\n${_functions}")
