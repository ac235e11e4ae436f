# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=file.cpp -DNAME=variable -DSOURCES="a.h;b.cl" -P EmbedKernels.cmake
# Joins the kernel sources, in this order, into one C++ string, so that the installed library needs no files. A comparison of all structures
# with the host's follows, except for structures of pointers, which lanes make themselves: see OpenCLStructSizes.h.
set(_checks "")
set(_text "// Made by EmbedKernels.cmake from the kernel sources; do not edit.
#include \"opencl/runtime/OpenCLProgram.h\"

const char * const gpureg::${NAME} =
")
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
endforeach()
string(APPEND _text "R\"GPUREG(${_checks})GPUREG\"\n")
file(WRITE "${OUTPUT}" "${_text};\n")
