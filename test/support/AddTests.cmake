# SPDX-License-Identifier: Apache-2.0
# Functions that add tests to ctest.
set(_gpuregistration_expect_output ${CMAKE_CURRENT_LIST_DIR}/ExpectOutput.cmake)

# gpuregistration_expect_output(NAME COMMAND program [argument …] OUTPUT regular_expression [EXIT_CODE n] [PROPERTIES name value …]):
# a test of a program, which may be a target, that is to print what the expression matches and to end with this exit code, or 0.
function(gpuregistration_expect_output name)
  cmake_parse_arguments(PARSE_ARGV 1 _expect "" "OUTPUT;EXIT_CODE" "COMMAND;PROPERTIES")
  list(POP_FRONT _expect_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  if(NOT _expect_EXIT_CODE)
    set(_expect_EXIT_CODE 0)
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${_expect_OUTPUT}" -DEXIT_CODE=${_expect_EXIT_CODE} -P
                                ${_gpuregistration_expect_output} -- ${program} ${_expect_COMMAND})
  if(_expect_PROPERTIES)
    set_tests_properties(${name} PROPERTIES ${_expect_PROPERTIES})
  endif()
endfunction()
