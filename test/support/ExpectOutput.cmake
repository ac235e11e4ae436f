# SPDX-License-Identifier: Apache-2.0
# Runs a program. Fails unless the exit code is N and the output, of both streams, matches a regular expression. ctest's properties
# PASS_REGULAR_EXPRESSION and SKIP_REGULAR_EXPRESSION ignore exit codes. If the exit code is N, but the output matches SKIP instead, prints
# "skipped" as the first word.
#   cmake -DOUTPUT=REGULAR_EXPRESSION [-DSKIP=REGULAR_EXPRESSION] -DEXIT_CODE=N -P ExpectOutput.cmake -- PROGRAM [ARGUMENT…]
set(command "")
set(is_command FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(is_command)
    string(APPEND command " \"\${CMAKE_ARGV${i}}\"")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(is_command TRUE)
  endif()
endforeach()

# A list of arguments would lose those that are empty, so that each has a place of its own in the text of the call.
string(RANDOM LENGTH 16 call)
set(call "${CMAKE_CURRENT_BINARY_DIR}/ExpectOutput-${call}.cmake")
file(WRITE "${call}" "execute_process(COMMAND ${command} RESULT_VARIABLE exit_code OUTPUT_VARIABLE output ERROR_VARIABLE output)")
include("${call}")
file(REMOVE "${call}")
if("${exit_code}" STREQUAL "${EXIT_CODE}"
   AND SKIP
   AND NOT "${output}" MATCHES "${OUTPUT}"
   AND "${output}" MATCHES "${SKIP}")
  message("skipped, because the output matches: ${SKIP}")
  return()
endif()
message("The program printed:\n${output}")
if(NOT "${exit_code}" STREQUAL "${EXIT_CODE}")
  message(FATAL_ERROR "exit code ${exit_code} instead of ${EXIT_CODE}")
endif()
if(NOT "${output}" MATCHES "${OUTPUT}")
  message(FATAL_ERROR "The output does not match: ${OUTPUT}")
endif()
