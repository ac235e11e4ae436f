# SPDX-License-Identifier: Apache-2.0
# Finds what CUDA and OpenCL want: GPURegistration_HAS_CUDA, GPURegistration_HAS_OPENCL.
# Neither is needed: AUTO takes what there is and says so, ON fails where it is missing.
# A language is enabled for the folder that does it and those below: so this is the top folder's.

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
