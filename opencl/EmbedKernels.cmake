# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=file.cpp -DNAME=variable -DSOURCES="a.h;b.cl" -P EmbedKernels.cmake
# Joins the kernel sources, in this order, into one C++ string: the installed library needs no files.
set(_text "// Made by EmbedKernels.cmake from the kernel sources; do not edit.
#include \"OpenCLProgram.h\"

const char * const gpureg::${NAME} =
")
foreach(_file IN LISTS SOURCES)
  file(READ "${_file}" _content)
  # Comments may hold formulas; some compilers take nothing but ASCII.
  string(REGEX REPLACE "[^ -~\t\n]+" "?" _content "${_content}")
  get_filename_component(_name "${_file}" NAME)
  string(APPEND _text "R\"GPUREG(#line 1 \"${_name}\"\n${_content})GPUREG\"\n")
endforeach()
file(WRITE "${OUTPUT}" "${_text};\n")
