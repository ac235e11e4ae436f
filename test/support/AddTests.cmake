# SPDX-License-Identifier: Apache-2.0
# Functions that add tests to ctest.
set(_gpuregistration_expect_output ${CMAKE_CURRENT_LIST_DIR}/ExpectOutput.cmake)

# gpuregistration_run_cases(TARGET [PROGRAM joined] [SECONDS n] [PROPERTIES name value …]): adds tests that run all cases of a GoogleTest
# program, or those of TARGET.cxx in a program that is joined from several sources. SECONDS is the processor time that they take on the host
# and on PoCL, if it is long. The longest tests start first. Cases of more than 40 s are divided into tests of about 20 s or less,
# TARGET.0, TARGET.1, …
function(gpuregistration_run_cases target)
  cmake_parse_arguments(PARSE_ARGV 1 _run "" "PROGRAM;SECONDS" "PROPERTIES")
  set(command ${target})
  if(_run_PROGRAM AND NOT _run_PROGRAM STREQUAL target)
    set(command ${_run_PROGRAM} ${target})
  endif()
  if(NOT _run_SECONDS)
    set(_run_SECONDS 0)
  endif()
  set(shards 1)
  if(_run_SECONDS GREATER 40)
    # An odd number: neighbouring cases run on different devices, and each test gets some of each device.
    math(EXPR shards "(${_run_SECONDS} + 19) / 20 / 2 * 2 + 1")
  endif()
  math(EXPR cost "${_run_SECONDS} / ${shards}")
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(name ${target})
    if(shards GREATER 1)
      set(name ${target}.${shard})
    endif()
    add_test(NAME ${name} COMMAND ${command})
    # A program that skips all its cases is skipped.
    set_tests_properties(
      ${name}
      PROPERTIES TIMEOUT 1200
                 COST ${cost}
                 SKIP_REGULAR_EXPRESSION "  PASSED  . 0 tests[.]\n(.  SKIPPED . [^\n]*\n)+$"
                 ${_run_PROPERTIES})
    if(shards GREATER 1)
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT GTEST_TOTAL_SHARDS=${shards} GTEST_SHARD_INDEX=${shard})
    else()
      # A program without cases fails. With fewer devices a shard may have none.
      set_property(TEST ${name} APPEND PROPERTY FAIL_REGULAR_EXPRESSION "Running 0 tests")
    endif()
  endforeach()
endfunction()

# gpuregistration_expect_output(NAME COMMAND program [argument …] OUTPUT regular_expression [EXIT_CODE n] [PROPERTIES name value …]): adds a
# test that runs a program or a target, and passes if the output matches the expression and the exit code is n, by default 0.
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
