# Builds, tests and installs the module against an installed ITK, without ITK's module macros.
include(CTest)
include(GNUInstallDirs)

set(GPURegistration_ITK_COMPONENTS
    ITKCommon
    ITKMetricsv4
    ITKRegistrationMethodsv4
    ITKSpatialObjects
    ITKTransform
    ITKDisplacementField
    ITKImageFunction)
find_package(ITK 5.2 REQUIRED COMPONENTS ${GPURegistration_ITK_COMPONENTS})

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
option(BUILD_SHARED_LIBS "Build a shared library" ON)
option(BUILD_EXAMPLES "Build the examples" ON)
option(BUILD_BENCHMARKS "Build the benchmarks" OFF)

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
