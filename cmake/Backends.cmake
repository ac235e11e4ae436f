# SPDX-License-Identifier: Apache-2.0
# Finds what CUDA and OpenCL want, and adds their sources to GPURegistration_SRCS.
# Neither is needed: AUTO takes what there is and says so, ON fails where it is missing.

set(_cuda_dir ${GPURegistration_SOURCE_DIR}/cuda)
set(_opencl_dir ${GPURegistration_SOURCE_DIR}/opencl)
set(GPURegistration_HAS_CUDA OFF)
set(GPURegistration_HAS_OPENCL OFF)

if(NOT GPURegistration_USE_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER)
    # Debian and NVIDIA's installer put nvcc in different places.
    find_program(GPURegistration_NVCC nvcc HINTS /usr/local/cuda/bin)
    mark_as_advanced(GPURegistration_NVCC)
    if(GPURegistration_NVCC)
      set(CMAKE_CUDA_COMPILER ${GPURegistration_NVCC})
    endif()
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # Real code for the common compute capabilities from 7.5 to 12.0 that this nvcc knows; PTX for
    # the rest, of 10.0 at most, for there are GPUs (11.0) between that and 12.0.
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE _known ERROR_QUIET)
      foreach(_capability 75 80 86 89 90 100 120)
        if(_known MATCHES "sm_${_capability}[^0-9]")
          list(APPEND CMAKE_CUDA_ARCHITECTURES ${_capability}-real)
          if(_capability LESS_EQUAL 100)
            set(_ptx ${_capability}-virtual)
          endif()
        endif()
      endforeach()
      list(APPEND CMAKE_CUDA_ARCHITECTURES ${_ptx})
    endif()
    enable_language(CUDA)
    set(GPURegistration_HAS_CUDA ON)
  elseif(GPURegistration_USE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "GPURegistration_USE_CUDA is ON but there is no CUDA compiler. Install the CUDA toolkit, "
                        "point CMAKE_CUDA_COMPILER at nvcc, or set GPURegistration_USE_CUDA to AUTO or OFF.")
  endif()
endif()

if(NOT GPURegistration_USE_OPENCL STREQUAL "OFF")
  find_path(GPURegistration_OPENCL_INCLUDE_DIR CL/opencl.hpp)
  mark_as_advanced(GPURegistration_OPENCL_INCLUDE_DIR)
  if(GPURegistration_OPENCL_INCLUDE_DIR)
    set(GPURegistration_HAS_OPENCL ON)
  elseif(GPURegistration_USE_OPENCL STREQUAL "ON")
    message(FATAL_ERROR "GPURegistration_USE_OPENCL is ON but CL/opencl.hpp was not found. Install the OpenCL headers "
                        "(Debian: opencl-headers, opencl-clhpp-headers) or set GPURegistration_USE_OPENCL to AUTO or OFF.")
  endif()
endif()

message(NOTICE "GPURegistration: CUDA ${GPURegistration_HAS_CUDA}, OpenCL ${GPURegistration_HAS_OPENCL}, host ON")

if(GPURegistration_HAS_CUDA)
  list(APPEND GPURegistration_SRCS ${_cuda_dir}/CudaBackend.cu ${_cuda_dir}/CudaQueue.cu ${_cuda_dir}/MattesPasses.cu)
endif()
if(GPURegistration_HAS_OPENCL)
  # The kernels' sources become part of the library, in the order in which they build on each other.
  set(_kernel_dir ${GPURegistration_SOURCE_DIR}/src/kernels)
  set(_opencl_kernels
      ${_opencl_dir}/Prelude.cl
      ${_kernel_dir}/BSpline.h
      ${_kernel_dir}/Geometry.h
      ${_kernel_dir}/Interpolation.h
      ${_kernel_dir}/MattesSample.h
      ${_kernel_dir}/MattesPartition.h
      ${_kernel_dir}/ForceSums.h
      ${_kernel_dir}/MattesTable.h
      ${_kernel_dir}/MattesKernels.h
      ${_opencl_dir}/MattesKernels.cl)
  set(_opencl_kernel_source ${CMAKE_CURRENT_BINARY_DIR}/OpenCLKernelSource.cpp)
  add_custom_command(
    OUTPUT ${_opencl_kernel_source}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${_opencl_kernel_source} "-DSOURCES=${_opencl_kernels}" -P
            ${_opencl_dir}/EmbedKernels.cmake
    DEPENDS ${_opencl_kernels} ${_opencl_dir}/EmbedKernels.cmake
    COMMENT "Embedding the OpenCL kernels"
    VERBATIM)
  set(_opencl_sources
      ${_opencl_dir}/MattesPasses.cpp
      ${_opencl_dir}/OpenCLBackend.cpp
      ${_opencl_dir}/OpenCLDevice.cpp
      ${_opencl_dir}/OpenCLError.cpp
      ${_opencl_dir}/OpenCLLoader.cpp
      ${_opencl_dir}/OpenCLProgram.cpp
      ${_opencl_dir}/OpenCLProgramCache.cpp
      ${_opencl_dir}/OpenCLQueue.cpp
      ${_opencl_kernel_source})
  # The cl... functions of OpenCLLoader.cpp must not get in the way of a program that links OpenCL itself.
  set_source_files_properties(${_opencl_sources} PROPERTIES COMPILE_OPTIONS
                                                            "-fvisibility=hidden;-fvisibility-inlines-hidden")
  list(APPEND GPURegistration_SRCS ${_opencl_sources})
endif()

# What the backends need of the target, once it exists.
function(gpuregistration_configure_backends)
  if(GPURegistration_HAS_CUDA)
    target_compile_definitions(GPURegistration PRIVATE GPUREG_USE_CUDA)
    target_include_directories(GPURegistration PRIVATE ${_cuda_dir})
    # The runtime is linked in: a machine without CUDA runs the same library.
    set_target_properties(GPURegistration PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON
                          CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden)
  endif()
  if(GPURegistration_HAS_OPENCL)
    target_compile_definitions(GPURegistration PRIVATE GPUREG_USE_OPENCL)
    target_include_directories(GPURegistration PRIVATE ${_opencl_dir} ${GPURegistration_OPENCL_INCLUDE_DIR})
    target_link_libraries(GPURegistration PRIVATE ${CMAKE_DL_LIBS})
  endif()
endfunction()
