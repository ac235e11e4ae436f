# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=file.cpp -DNAME=OpenCL...Source -DSOURCES="a.h;b.cl" -DITEMS="a.h" -DDOUBLES=ON|OFF -P EmbedKernels.cmake
# Joins the kernel sources, in this order, into one C++ string: the installed library needs no files. Behind them:
# - All structures are compared with the host's, but for those of pointers, which lanes make for themselves: see OpenCLStructSizes.h.
# - Each item kernel and group kernel (see src/kernels/core/ItemKernel.h and GroupKernel.h) that ITEMS declare gets an entry point, and a
#   function that leads to it.
cmake_policy(VERSION 3.16)
set(_checks "")
set(_entries "")
set(_functions "")
set(_include "")
if(ITEMS)
  set(_include "\n#include \"engine/runtime/KernelArguments.h\"\n")
endif()
set(_text "// Made by EmbedKernels.cmake from the kernel sources; do not edit.
#include \"opencl/runtime/OpenCLProgram.h\"
${_include}
const char * const gpureg::${NAME} =
")

# Appends the function that leads to a kernel's entry point, and the entry point, a text.
function(append_kernel function entry)
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
  static const OpenCLKernelSource source = { ${NAME}, ${_needs_doubles} };
  return &source;
}
}
")
  set(_entries "${_entries}${entry}" PARENT_SCOPE)
  set(_functions "${_functions}" PARENT_SCOPE)
endfunction()

# Sets _declared and _passed to the parameters of an entry point, and what it passes to a kernel's function with these parameters. Each
# begins with a comma. Sets _made to the statements before the call.
function(read_parameters function parameters)
  string(REPLACE "," ";" parameters "${parameters}")
  set(_declared "")
  set(_passed "")
  set(_made "")
  foreach(_parameter IN LISTS parameters)
    string(STRIP "${_parameter}" _parameter)
    if(_parameter MATCHES "^GPUREG_GLOBAL (.*[^ ]) \\* ([A-Za-z0-9_]+)$")
      string(REPLACE "void" "char" _type "${CMAKE_MATCH_1}")
      string(APPEND _declared ", __global ${_type} * ${CMAKE_MATCH_2}, const i64 ${CMAKE_MATCH_2}First")
      string(APPEND _passed ", ${CMAKE_MATCH_2} + ${CMAKE_MATCH_2}First")
    elseif(_parameter MATCHES "^GPUREG_LOCAL (.*[^ ]) \\* ([A-Za-z0-9_]+)$")
      string(APPEND _declared ", __local ${CMAKE_MATCH_1} * ${CMAKE_MATCH_2}")
      string(APPEND _passed ", ${CMAKE_MATCH_2}")
    elseif(_parameter MATCHES "^const SampleVolumes \\* ")
      # OpenCL 1.2 passes no structure of pointers. SampleVolumes.cl makes it.
      string(APPEND _declared ", GPUREG_VOLUME_PARAMETERS")
      string(APPEND _passed ", &volumes")
      set(_made "  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);\n")
    elseif(_parameter MATCHES "^const ([A-Za-z0-9_]+) \\* ([A-Za-z0-9_]+)$")
      string(APPEND _declared ", const ${CMAKE_MATCH_1} ${CMAKE_MATCH_2}")
      string(APPEND _passed ", &${CMAKE_MATCH_2}")
    elseif(_parameter MATCHES "^([A-Za-z0-9_]+) ([A-Za-z0-9_]+)$")
      string(APPEND _declared ", const ${CMAKE_MATCH_1} ${CMAKE_MATCH_2}")
      string(APPEND _passed ", ${CMAKE_MATCH_2}")
    else()
      message(FATAL_ERROR "${function} is declared a kernel; it cannot have the parameter ${_parameter}")
    endif()
  endforeach()
  set(_declared "${_declared}" PARENT_SCOPE)
  set(_passed "${_passed}" PARENT_SCOPE)
  set(_made "${_made}" PARENT_SCOPE)
endfunction()

# Appends the entry point of an item kernel, whose function is in a text without comments.
function(append_item_kernel function text)
  if(NOT text MATCHES "GPUREG_(REAL_)?FUNCTION void ${function}\\(([^()]*), i64 [A-Za-z0-9_]+\\)")
    message(FATAL_ERROR "${function} is declared an item kernel, but no function that ends with the item")
  endif()
  read_parameters(${function} "${CMAKE_MATCH_2}")
  string(SUBSTRING "${_passed}" 2 -1 _passed)
  append_kernel(${function} "#ifndef GPUREG_CONSTANT_0
GPUREG_KERNEL void
${function}Kernel(const i64 itemCount${_declared})
{
  if (ComputeItem() < itemCount)
  {
    ${function}(${_passed}, ComputeItem());
  }
}
#endif
")
  set(_entries "${_entries}" PARENT_SCOPE)
  set(_functions "${_functions}" PARENT_SCOPE)
endfunction()

# Appends the entry point of a group kernel, whose function is in a text without comments. isVaried: if the function's first parameters,
# int, are constants. Each variant is a program of its own with this entry point alone, whose options define the constants: as numbers, or,
# if they are looked up at run time, by the names of the entry point's parameters.
function(append_group_kernel function isVaried text)
  if(NOT text MATCHES "GPUREG_(REAL_)?GROUP_FUNCTION void ${function}\\(([^()]*)\\)")
    message(FATAL_ERROR "${function} is declared a group kernel, but no function of groups")
  endif()
  set(_parameters "${CMAKE_MATCH_2}")
  set(_constants 0)
  set(_before "")
  set(_first "")
  set(_guard "#ifndef GPUREG_CONSTANT_0")
  if(isVaried)
    set(_guard "#ifdef GPUREG_HAS_${function}Kernel")
    while(_parameters MATCHES "^ *int [A-Za-z0-9_]+, (.*)$")
      set(_parameters "${CMAKE_MATCH_1}")
      string(APPEND _before ", const int constant${_constants}")
      string(APPEND _first ", GPUREG_CONSTANT_${_constants}")
      math(EXPR _constants "${_constants} + 1")
    endwhile()
  endif()
  read_parameters(${function} "${_parameters}")
  string(SUBSTRING "${_before}${_declared}" 2 -1 _declared)
  string(SUBSTRING "${_first}${_passed}" 2 -1 _passed)
  append_kernel(${function} "${_guard}
GPUREG_KERNEL void
${function}Kernel(${_declared})
{
${_made}  ${function}(${_passed});
}
#endif
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
           "typedef char ${_struct}HasEqualLayout[sizeof(${_struct}) == GPUREG_BYTES_OF_${_struct} ? 1 : -1];\n")
  endforeach()
  if(_file IN_LIST ITEMS)
    string(REGEX REPLACE "[ \n]+" " " _content "${_content}")
    string(REGEX MATCHALL "GPUREG_(REAL_|VARIED_)?(ITEM|GROUP)_KERNEL\\( ?[A-Za-z0-9_]+" _declarations "${_content}")
    foreach(_declaration IN LISTS _declarations)
      string(REGEX REPLACE ".*\\( ?" "" _function "${_declaration}")
      if(_declaration MATCHES "ITEM_KERNEL")
        append_item_kernel(${_function} "${_content}")
      elseif(_declaration MATCHES "(REAL|VARIED)_GROUP_KERNEL")
        append_group_kernel(${_function} TRUE "${_content}")
      else()
        append_group_kernel(${_function} FALSE "${_content}")
      endif()
    endforeach()
  endif()
endforeach()
string(APPEND _text "R\"GPUREG(${_checks}${_entries})GPUREG\"\n")
file(WRITE "${OUTPUT}" "${_text};\n${_functions}")
