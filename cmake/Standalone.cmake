# SPDX-License-Identifier: Apache-2.0
# Builds, tests and installs the module against an installed ITK, without ITK's module macros.
include(CTest)
include(GNUInstallDirs)

# In itk-module.cmake's own words: which modules of ITK this one wants.
macro(itk_module name)
  cmake_parse_arguments(_itk_module "ENABLE_SHARED;EXCLUDE_FROM_DEFAULT" "DESCRIPTION" "DEPENDS;TEST_DEPENDS" ${ARGN})
  set(${name}_ITK_COMPONENTS ${_itk_module_DEPENDS})
  set(${name}_ITK_TEST_COMPONENTS ${_itk_module_DEPENDS} ${_itk_module_TEST_DEPENDS})
endmacro()
include(${PROJECT_SOURCE_DIR}/itk-module.cmake)
find_package(ITK 5.2 REQUIRED COMPONENTS ${GPURegistration_ITK_COMPONENTS})

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
# An ITK that is not where the system looks is found again after installation.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
option(BUILD_SHARED_LIBS "Build a shared library" ON)
option(BUILD_EXAMPLES "Build the examples" ON)
option(BUILD_BENCHMARKS "Build the benchmarks" OFF)
option(GPURegistration_QUICK_PROGRAMS "Optimise examples, benchmarks and overrides little: half of their compiler's time"
       OFF)
mark_as_advanced(GPURegistration_QUICK_PROGRAMS)
include(${PROJECT_SOURCE_DIR}/cmake/JoinSources.cmake)

if(NOT MSVC)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra>")
endif()

add_subdirectory(src)

if(BUILD_EXAMPLES)
  add_subdirectory(examples)
endif()
if(BUILD_BENCHMARKS)
  add_subdirectory(benchmark)
endif()
if(BUILD_TESTING)
  add_subdirectory(test)
endif()

include(cmake/Install.cmake)
