# SPDX-License-Identifier: Apache-2.0
# Installs the module from the build in BUILD_DIR, of BUILD_TYPE, and builds and runs the project beside this file with it, all in WORK_DIR.
# Then does the same with a static library, from a build of its own.
file(REMOVE_RECURSE ${WORK_DIR})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# configure(SOURCE … BINARY … [OBJECTS …] SETTINGS … ARGUMENTS …): configures a project with these settings of the build in BUILD_DIR.
# Objects that the build in OBJECTS has compiled are taken from there.
function(configure)
  cmake_parse_arguments(PARSE_ARGV 0 _of "" "SOURCE;BINARY;OBJECTS" "SETTINGS;ARGUMENTS")
  load_cache(${BUILD_DIR} READ_WITH_PREFIX _ CMAKE_GENERATOR ${_of_SETTINGS})
  set(_initial "set(CMAKE_BUILD_TYPE [[${BUILD_TYPE}]] CACHE STRING \"\")\n")
  foreach(_setting IN LISTS _of_SETTINGS)
    if(NOT "${_${_setting}}" STREQUAL "")
      string(APPEND _initial "set(${_setting} [[${_${_setting}}]] CACHE STRING \"\")\n")
    endif()
  endforeach()
  if(_of_OBJECTS)
    foreach(_language IN ITEMS CXX CUDA)
      string(APPEND _initial "set(CMAKE_${_language}_COMPILER_LAUNCHER "
                             "[[${CMAKE_CURRENT_LIST_DIR}/../../tools/take-object.sh;all;${_of_OBJECTS};${_of_BINARY}]] "
                             "CACHE STRING \"\")\n")
    endforeach()
  endif()
  file(WRITE ${_of_BINARY}/Initial.cmake "${_initial}")
  run(${CMAKE_COMMAND} -S ${_of_SOURCE} -B ${_of_BINARY} -G ${_CMAKE_GENERATOR} --log-level=NOTICE
      -C ${_of_BINARY}/Initial.cmake ${_of_ARGUMENTS})
endfunction()

# test_consumer(MODULE CONSUMER [OBJECTS …]): builds the project in CONSUMER with the module from the build in MODULE.
function(test_consumer module consumer)
  # The programs run for a moment only, less than optimizing them would take.
  string(TOUPPER "${BUILD_TYPE}" type)
  run(${CMAKE_COMMAND} --install ${module} --prefix ${consumer}/prefix --config ${BUILD_TYPE})
  configure(SOURCE ${CMAKE_CURRENT_LIST_DIR} BINARY ${consumer} ${ARGN}
            SETTINGS CMAKE_MAKE_PROGRAM CMAKE_C_COMPILER CMAKE_CXX_COMPILER CMAKE_CXX_FLAGS
            ARGUMENTS -DCMAKE_PREFIX_PATH=${consumer}/prefix "-DCMAKE_CXX_FLAGS_${type}=-O0")
  run(${CMAKE_COMMAND} --build ${consumer} --config ${BUILD_TYPE})
  run(${CMAKE_CTEST_COMMAND} --output-on-failure -C ${BUILD_TYPE} WORKING_DIRECTORY ${consumer})
endfunction()

test_consumer(${BUILD_DIR} ${WORK_DIR}/consumer)

configure(SOURCE ${SOURCE_DIR} BINARY ${WORK_DIR}/static OBJECTS ${BUILD_DIR}
          SETTINGS CMAKE_MAKE_PROGRAM CMAKE_C_COMPILER CMAKE_CXX_COMPILER CMAKE_CXX_FLAGS CMAKE_CUDA_COMPILER
                   CMAKE_CUDA_FLAGS CMAKE_CUDA_ARCHITECTURES GPURegistration_USE_CUDA GPURegistration_USE_OPENCL ITK_DIR
          ARGUMENTS -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/static --config ${BUILD_TYPE})
test_consumer(${WORK_DIR}/static ${WORK_DIR}/static-consumer OBJECTS ${WORK_DIR}/consumer)
