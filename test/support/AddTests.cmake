# SPDX-License-Identifier: Apache-2.0
# Functions that add tests to ctest.
set(_gpuregistration_expect_output ${CMAKE_CURRENT_LIST_DIR}/ExpectOutput.cmake)

# The main function of each GoogleTest program that is not joined: its exit code says that all cases were skipped. GTest::Main's would not.
if(TARGET GTest::GTest AND NOT TARGET GPURegistrationTestMain)
  add_library(GPURegistrationTestMain STATIC ${CMAKE_CURRENT_LIST_DIR}/TestMain.cxx)
  target_link_libraries(GPURegistrationTestMain PUBLIC GTest::GTest)
endif()

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
    # The exit code of a program that skips all its cases (RunCases.h).
    set_tests_properties(
      ${name}
      PROPERTIES TIMEOUT 1200
                 COST ${cost}
                 SKIP_RETURN_CODE 77
                 ${_run_PROPERTIES})
    if(shards GREATER 1)
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT GTEST_TOTAL_SHARDS=${shards} GTEST_SHARD_INDEX=${shard})
    else()
      # A program without cases fails. With fewer devices a shard may have none.
      set_property(TEST ${name} APPEND PROPERTY FAIL_REGULAR_EXPRESSION "Running 0 tests")
    endif()
  endforeach()
endfunction()

# gpuregistration_expect_output(NAME COMMAND program [argument …] OUTPUT regular_expression [SKIP regular_expression] [EXIT_CODE n]
#                               [PROPERTIES name value …])
# adds a test that runs a program or a target, and passes if the output matches OUTPUT and the exit code is n, by default 0. If the exit code
# is n, but the output matches SKIP instead, the test is skipped.
function(gpuregistration_expect_output name)
  cmake_parse_arguments(PARSE_ARGV 1 _expect "" "OUTPUT;SKIP;EXIT_CODE" "COMMAND;PROPERTIES")
  # A list of arguments would lose those that are empty, so that each has a place of its own in the text of the call.
  set(command "")
  set(count 0)
  foreach(argument IN LISTS _expect_COMMAND)
    if(count EQUAL 0 AND TARGET "${argument}")
      set(argument $<TARGET_FILE:${argument}>)
    endif()
    set(argument${count} "${argument}")
    string(APPEND command " \"\${argument${count}}\"")
    math(EXPR count "${count} + 1")
  endforeach()
  if(NOT _expect_EXIT_CODE)
    set(_expect_EXIT_CODE 0)
  endif()
  set(call ${CMAKE_CURRENT_BINARY_DIR}/ExpectOutput/${name}.cmake)
  file(
    WRITE ${call}
    "add_test(NAME \${name} COMMAND \${CMAKE_COMMAND} \"-DOUTPUT=\${_expect_OUTPUT}\" \"-DSKIP=\${_expect_SKIP}\"
  -DEXIT_CODE=\${_expect_EXIT_CODE} -P \${_gpuregistration_expect_output} -- ${command})
")
  include(${call})
  if(_expect_SKIP)
    # ExpectOutput.cmake begins with this word where it skips, and never with a program's output.
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
  endif()
  if(_expect_PROPERTIES)
    set_tests_properties(${name} PROPERTIES ${_expect_PROPERTIES})
  endif()
endfunction()
