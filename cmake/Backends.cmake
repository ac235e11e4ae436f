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
    # Real code for the common compute capabilities from 7.5 to 12.0, PTX for those in between and after.
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90-real 100-real 120)
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

message(STATUS "GPURegistration: CUDA ${GPURegistration_HAS_CUDA}, OpenCL ${GPURegistration_HAS_OPENCL}, host ON")

if(GPURegistration_HAS_CUDA)
  list(APPEND GPURegistration_SRCS ${_cuda_dir}/CudaBackend.cu ${_cuda_dir}/CudaQueue.cu ${_cuda_dir}/MattesPasses.cu)
endif()
if(GPURegistration_HAS_OPENCL)
  list(APPEND GPURegistration_SRCS ${_opencl_dir}/OpenCLBackend.cpp ${_opencl_dir}/OpenCLQueue.cpp
       ${_opencl_dir}/OpenCLLoader.cpp ${_opencl_dir}/OpenCLProgramCache.cpp ${_opencl_dir}/MattesPasses.cpp)
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
