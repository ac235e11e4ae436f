# SPDX-License-Identifier: Apache-2.0
# Adds the sources of the backends that FindBackends.cmake has found to GPURegistration_SRCS.

set(_cuda_dir ${GPURegistration_SOURCE_DIR}/cuda)
set(_opencl_dir ${GPURegistration_SOURCE_DIR}/opencl)

if(GPURegistration_HAS_CUDA)
  list(
    APPEND
    GPURegistration_SRCS
    ${_cuda_dir}/metric/samples/ControlGridPasses.cu
    ${_cuda_dir}/registration/free_form/ControlStepPasses.cu
    ${_cuda_dir}/penalty/ControlPenaltyPasses.cu
    ${_cuda_dir}/metric/histogram/CorrelationRatioPasses.cu
    ${_cuda_dir}/metric/histogram/CorrelationRatioSchemePasses.cu
    ${_cuda_dir}/runtime/CudaBackend.cu
    ${_cuda_dir}/runtime/CudaDeviceScope.cu
    ${_cuda_dir}/runtime/CudaError.cu
    ${_cuda_dir}/runtime/CudaQueue.cu
    ${_cuda_dir}/metric/histogram/CudaSort.cu
    ${_cuda_dir}/resample/DisplacementPasses.cu
    ${_cuda_dir}/image/ImagePasses.cu
    ${_cuda_dir}/metric/histogram/JointHistogramPasses.cu
    ${_cuda_dir}/metric/samples/PreTransformPasses.cu
    ${_cuda_dir}/filter/LinePasses.cu
    ${_cuda_dir}/metric/histogram/MattesPasses.cu
    ${_cuda_dir}/metric/samples/MovingImagePasses.cu
    ${_cuda_dir}/metric/neighborhood/NeighborhoodPasses.cu
    ${_cuda_dir}/image/NumberPasses.cu
    ${_cuda_dir}/metric/pairs/PairPasses.cu
    ${_cuda_dir}/metric/histogram/PartialVolumePasses.cu
    ${_cuda_dir}/resample/ResamplePasses.cu
    ${_cuda_dir}/metric/SimilarityPasses.cu)
endif()
if(GPURegistration_HAS_OPENCL)
  # The kernels' sources become part of the library, a text a program, in the order in which they build on
  # each other.
  set(_kernel_dir ${GPURegistration_SOURCE_DIR}/src/kernels)
  function(gpuregistration_embed_kernels name)
    set(_output ${CMAKE_CURRENT_BINARY_DIR}/OpenCL${name}Source.cpp)
    add_custom_command(
      OUTPUT ${_output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${_output} -DNAME=OpenCL${name}Source "-DSOURCES=${ARGN}" -P
              ${_opencl_dir}/runtime/EmbedKernels.cmake
      DEPENDS ${ARGN} ${_opencl_dir}/runtime/EmbedKernels.cmake
      COMMENT "Embedding the OpenCL kernels of ${name}"
      VERBATIM)
  endfunction()
  # A metric: its own formulas stand between what its samples are and what its groups do.
  function(gpuregistration_embed_metric_kernels name)
    gpuregistration_embed_kernels(
      ${name}
      ${_opencl_dir}/core/Prelude.cl
      ${_kernel_dir}/transform/BSpline.h
      ${_kernel_dir}/transform/FixedMap.h
      ${_kernel_dir}/core/Geometry.h
      ${_kernel_dir}/metric/samples/Position.h
      ${_kernel_dir}/metric/samples/Interpolation.h
      ${_kernel_dir}/transform/TransformChain.h
      ${_kernel_dir}/transform/ChainSlopes.h
      ${_kernel_dir}/metric/samples/ForceSums.h
      ${_kernel_dir}/core/Evaluated.h
      ${_kernel_dir}/image/InvalidSample.h
      ${_kernel_dir}/metric/samples/Samples.h
      ${_kernel_dir}/metric/samples/PreciseSamples.h
      ${_kernel_dir}/metric/samples/PreciseGrid.h
      ${_kernel_dir}/metric/samples/SampleChain.h
      ${_kernel_dir}/core/LaneLimits.h
      ${_kernel_dir}/metric/samples/SamplePartition.h
      ${_kernel_dir}/core/LaneReduction.h
      ${_kernel_dir}/metric/samples/ForceKernels.h
      ${ARGN})
  endfunction()
  # One that has a histogram: its formulas (FORMULAS), how samples are counted where they do not say it (COUNTING), what its groups
  # do besides (GROUPS), and the entry points (ENTRIES).
  function(gpuregistration_embed_histogram_kernels name metric)
    cmake_parse_arguments(PARSE_ARGV 2 _embed "" "" "FORMULAS;COUNTING;GROUPS;ENTRIES")
    gpuregistration_embed_metric_kernels(
      ${name}
      ${_kernel_dir}/metric/histogram/Histogram.h
      ${_embed_FORMULAS}
      ${_opencl_dir}/metric/histogram/${metric}Metric.cl
      ${_embed_COUNTING}
      ${_kernel_dir}/metric/histogram/HistogramKernels.h
      ${_embed_GROUPS}
      ${_opencl_dir}/metric/samples/SampleVolumes.cl
      ${_embed_ENTRIES})
  endfunction()
  set(_batch_groups ${_kernel_dir}/metric/histogram/HistogramBatchKernels.h)
  set(_batch_entries ${_opencl_dir}/metric/histogram/HistogramKernels.cl)
  # Of those that have a SummaryGroup().
  set(_summary_groups ${_batch_groups} ${_kernel_dir}/metric/histogram/HistogramSummaryKernels.h)
  set(_summary_entries ${_batch_entries} ${_opencl_dir}/metric/histogram/HistogramSummaryKernels.cl)
  gpuregistration_embed_histogram_kernels(
    Mattes Mattes FORMULAS ${_kernel_dir}/metric/histogram/MattesSample.h ${_kernel_dir}/metric/histogram/MattesPrecise.h ${_kernel_dir}/metric/histogram/EntropyTable.h
    COUNTING ${_kernel_dir}/core/LaneSum.h ${_kernel_dir}/metric/histogram/WindowCount.h
    GROUPS ${_kernel_dir}/metric/histogram/EntropyTableKernels.h ${_summary_groups}
    ENTRIES ${_summary_entries})
  gpuregistration_embed_histogram_kernels(
    PartialVolume PartialVolume FORMULAS ${_kernel_dir}/metric/histogram/PartialVolumeSample.h ${_kernel_dir}/metric/histogram/PartialVolumePrecise.h
    ${_kernel_dir}/metric/histogram/EntropyTable.h COUNTING ${_kernel_dir}/core/LaneSum.h
    GROUPS ${_kernel_dir}/metric/histogram/EntropyTableKernels.h ${_summary_groups} ENTRIES ${_summary_entries})
  gpuregistration_embed_histogram_kernels(
    JointHistogram JointHistogram FORMULAS ${_kernel_dir}/metric/histogram/JointHistogramSmoothing.h ${_kernel_dir}/metric/histogram/JointHistogramSample.h
    ${_kernel_dir}/metric/histogram/JointHistogramPrecise.h ${_kernel_dir}/metric/histogram/JointHistogramTable.h ${_kernel_dir}/metric/histogram/JointHistogramKernels.h
    COUNTING ${_kernel_dir}/core/LaneSum.h GROUPS ${_batch_groups} ENTRIES ${_batch_entries})
  # In doubles.
  gpuregistration_embed_metric_kernels(
    JointHistogramSummary ${_kernel_dir}/metric/histogram/Histogram.h ${_kernel_dir}/core/RoundedProduct.h ${_kernel_dir}/core/RoundedLog.h
    ${_kernel_dir}/metric/histogram/JointHistogramSmoothing.h ${_kernel_dir}/metric/histogram/JointHistogramDensity.h
    ${_kernel_dir}/metric/histogram/JointHistogramSummary.h ${_kernel_dir}/metric/histogram/JointHistogramSummaryKernels.h
    ${_opencl_dir}/metric/histogram/JointHistogramSummaryMetric.cl ${_kernel_dir}/metric/histogram/HistogramSummaryKernels.h
    ${_opencl_dir}/metric/samples/SampleVolumes.cl ${_opencl_dir}/metric/histogram/HistogramSummaryKernels.cl)
  gpuregistration_embed_histogram_kernels(
    CorrelationRatio CorrelationRatio FORMULAS ${_kernel_dir}/metric/histogram/BorderWeight.h ${_kernel_dir}/metric/histogram/CorrelationRatio.h
    ${_kernel_dir}/metric/histogram/CorrelationRatioKernels.h COUNTING ${_kernel_dir}/metric/histogram/CorrelationRatioCount.h GROUPS ${_summary_groups}
    ENTRIES ${_summary_entries})
  gpuregistration_embed_histogram_kernels(
    CorrelationRatioSchemes CorrelationRatio FORMULAS ${_kernel_dir}/metric/histogram/BorderWeight.h ${_kernel_dir}/metric/histogram/CorrelationRatio.h
    COUNTING ${_kernel_dir}/metric/histogram/CorrelationRatioCount.h GROUPS ${_kernel_dir}/metric/histogram/CorrelationRatioSchemes.h
    ENTRIES ${_opencl_dir}/metric/histogram/CorrelationRatioSchemes.cl)
  gpuregistration_embed_metric_kernels(
    Pair ${_kernel_dir}/metric/ValuePairs.h ${_kernel_dir}/metric/pairs/ValuePairKernels.h ${_opencl_dir}/metric/pairs/PairMetric.cl
    ${_opencl_dir}/metric/samples/SampleVolumes.cl ${_opencl_dir}/metric/pairs/PairKernels.cl)
  gpuregistration_embed_metric_kernels(
    Similarity ${_kernel_dir}/metric/ValuePairs.h ${_kernel_dir}/metric/SimilaritySums.h ${_kernel_dir}/metric/SimilaritySumKernels.h
    ${_opencl_dir}/metric/SimilarityKernels.cl)
  gpuregistration_embed_metric_kernels(
    Neighborhood ${_kernel_dir}/metric/ValuePairs.h ${_kernel_dir}/core/RoundedProduct.h ${_kernel_dir}/metric/neighborhood/NeighborhoodCorrelation.h
    ${_kernel_dir}/metric/neighborhood/NeighborhoodWalks.h ${_kernel_dir}/metric/neighborhood/NeighborhoodTiles.h ${_kernel_dir}/metric/neighborhood/NeighborhoodTerms.h
    ${_kernel_dir}/metric/neighborhood/NeighborhoodKernels.h ${_kernel_dir}/metric/neighborhood/NeighborhoodTileKernels.h
    ${_kernel_dir}/metric/neighborhood/NeighborhoodBatchKernels.h ${_opencl_dir}/metric/neighborhood/NeighborhoodMetric.cl ${_opencl_dir}/metric/samples/SampleVolumes.cl
    ${_opencl_dir}/metric/neighborhood/NeighborhoodKernels.cl)
  gpuregistration_embed_metric_kernels(
    ControlGrid ${_kernel_dir}/metric/samples/ControlGrid.h ${_kernel_dir}/metric/samples/ControlGridKernels.h ${_opencl_dir}/metric/samples/ControlGridKernels.cl)
  gpuregistration_embed_metric_kernels(
    PreTransform ${_kernel_dir}/metric/samples/PreTransformMoves.h ${_kernel_dir}/metric/samples/PreTransformKernels.h ${_opencl_dir}/metric/samples/PreTransformKernels.cl)
  gpuregistration_embed_kernels(ControlStep ${_opencl_dir}/core/Prelude.cl ${_kernel_dir}/core/Evaluated.h ${_kernel_dir}/transform/ControlVector.h ${_kernel_dir}/registration/free_form/ControlSteps.h
                                ${_kernel_dir}/core/LaneReduction.h ${_kernel_dir}/registration/free_form/ControlStepKernels.h ${_opencl_dir}/registration/free_form/ControlStepKernels.cl)
  gpuregistration_embed_kernels(Displacement ${_opencl_dir}/core/Prelude.cl ${_kernel_dir}/resample/Displacement.h
                                ${_opencl_dir}/resample/DisplacementKernels.cl)
  gpuregistration_embed_kernels(
    Resample
    ${_opencl_dir}/core/Prelude.cl
    ${_kernel_dir}/transform/BSpline.h
    ${_kernel_dir}/transform/FixedMap.h
    ${_kernel_dir}/transform/TransformChain.h
    ${_kernel_dir}/resample/Resample.h
    ${_kernel_dir}/resample/ResampleCut.h
    ${_kernel_dir}/resample/ResampleKernels.h
    ${_opencl_dir}/resample/ResampleKernels.cl)
  gpuregistration_embed_kernels(
    Line
    ${_opencl_dir}/core/Prelude.cl
    ${_kernel_dir}/filter/LineRecursion.h
    ${_kernel_dir}/core/RoundedProduct.h
    ${_kernel_dir}/filter/LineConvolution.h
    ${_kernel_dir}/filter/GridInterpolation.h
    ${_kernel_dir}/filter/LineKernels.h
    ${_opencl_dir}/filter/LineKernels.cl)
  gpuregistration_embed_kernels(
    Image
    ${_opencl_dir}/core/Prelude.cl
    ${_kernel_dir}/core/Geometry.h
    ${_kernel_dir}/core/RoundedProduct.h
    ${_kernel_dir}/image/InvalidSample.h
    ${_kernel_dir}/image/ImageValues.h
    ${_kernel_dir}/image/ContentHash.h
    ${_opencl_dir}/image/ImageKernels.cl)
  gpuregistration_embed_kernels(
    MovingImage ${_opencl_dir}/core/Prelude.cl ${_kernel_dir}/core/Geometry.h ${_kernel_dir}/metric/samples/MovingVoxels.h
    ${_opencl_dir}/metric/samples/MovingImageKernels.cl)
  gpuregistration_embed_kernels(
    ControlPenalty ${_opencl_dir}/core/Prelude.cl ${_kernel_dir}/core/Determinant.h ${_kernel_dir}/transform/ControlVector.h ${_kernel_dir}/penalty/ControlPenalties.h ${_kernel_dir}/penalty/ControlPenaltyKernels.h
    ${_opencl_dir}/penalty/ControlPenaltyKernels.cl)
  set(_opencl_sources
      ${_opencl_dir}/metric/samples/ControlGridPasses.cpp
      ${_opencl_dir}/registration/free_form/ControlStepPasses.cpp
      ${_opencl_dir}/penalty/ControlPenaltyPasses.cpp
      ${_opencl_dir}/metric/histogram/CorrelationRatioPasses.cpp
      ${_opencl_dir}/metric/histogram/CorrelationRatioSchemePasses.cpp
      ${_opencl_dir}/resample/DisplacementPasses.cpp
      ${_opencl_dir}/image/ImagePasses.cpp
      ${_opencl_dir}/image/NumberPasses.cpp
      ${_opencl_dir}/metric/histogram/JointHistogramPasses.cpp
      ${_opencl_dir}/metric/samples/PreTransformPasses.cpp
      ${_opencl_dir}/filter/LinePasses.cpp
      ${_opencl_dir}/metric/histogram/MattesPasses.cpp
      ${_opencl_dir}/metric/samples/MovingImagePasses.cpp
      ${_opencl_dir}/metric/neighborhood/NeighborhoodPasses.cpp
      ${_opencl_dir}/runtime/OpenCLBackend.cpp
      ${_opencl_dir}/runtime/OpenCLDevice.cpp
      ${_opencl_dir}/runtime/OpenCLError.cpp
      ${_opencl_dir}/runtime/OpenCLKernels.cpp
      ${_opencl_dir}/runtime/OpenCLLoader.cpp
      ${_opencl_dir}/runtime/OpenCLProgram.cpp
      ${_opencl_dir}/runtime/OpenCLProgramCache.cpp
      ${_opencl_dir}/runtime/OpenCLQueue.cpp
      ${_opencl_dir}/OpenCLStructSizes.cpp
      ${_opencl_dir}/metric/pairs/PairPasses.cpp
      ${_opencl_dir}/metric/histogram/PartialVolumePasses.cpp
      ${_opencl_dir}/runtime/PrivateFolder.cpp
      ${_opencl_dir}/resample/ResamplePasses.cpp
      ${_opencl_dir}/metric/SimilarityPasses.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLControlGridSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLControlStepSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLControlPenaltySource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLCorrelationRatioSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLCorrelationRatioSchemesSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLDisplacementSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLImageSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLJointHistogramSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLJointHistogramSummarySource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLPreTransformSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLLineSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLMattesSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLMovingImageSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLNeighborhoodSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLPairSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLPartialVolumeSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLResampleSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLSimilaritySource.cpp)
  # The cl... functions of OpenCLLoader.cpp must not get in the way of a program that links OpenCL itself.
  set_source_files_properties(${_opencl_sources} PROPERTIES COMPILE_OPTIONS
                                                            "-fvisibility=hidden;-fvisibility-inlines-hidden")
  list(APPEND GPURegistration_SRCS ${_opencl_sources})
endif()

# gpuregistration_use_engine(TARGET): lets a target include the engine's own headers, such as "engine/runtime/Queue.h",
# "kernels/core/Prelude.h" and "opencl/runtime/OpenCLQueue.h", and tells it which backends there are.
function(gpuregistration_use_engine target)
  target_include_directories(${target} PRIVATE ${GPURegistration_SOURCE_DIR} ${GPURegistration_SOURCE_DIR}/src)
  if(GPURegistration_HAS_CUDA)
    target_compile_definitions(${target} PRIVATE GPUREG_USE_CUDA)
  endif()
  if(GPURegistration_HAS_OPENCL)
    target_compile_definitions(${target} PRIVATE GPUREG_USE_OPENCL)
    target_include_directories(${target} PRIVATE ${GPURegistration_OPENCL_INCLUDE_DIR})
  endif()
endfunction()

# What the backends need of the target, once it exists.
function(gpuregistration_configure_backends)
  gpuregistration_use_engine(GPURegistration)
  if(GPURegistration_HAS_CUDA)
    # The runtime is linked in: a machine without CUDA runs the same library.
    set_target_properties(GPURegistration PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON
                          CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden)
    # Code for each of eight architectures: a quarter of what nvcc's default compression leaves. A driver that runs what this
    # nvcc makes reads it.
    include(CheckCompilerFlag)
    check_compiler_flag(CUDA --compress-mode=size GPURegistration_CUDA_COMPRESSES)
    if(GPURegistration_CUDA_COMPRESSES)
      target_compile_options(GPURegistration PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
    endif()
    # A GPU that there is no code for is not offered. Colons, since nvcc would part the words at commas.
    get_target_property(_architectures GPURegistration CUDA_ARCHITECTURES)
    string(REPLACE ";" ":" _architectures "${_architectures}")
    set_property(SOURCE ${_cuda_dir}/runtime/CudaBackend.cu APPEND PROPERTY COMPILE_DEFINITIONS
                                                                    "GPUREG_CUDA_ARCHITECTURES=\"${_architectures}\"")
  endif()
  if(GPURegistration_HAS_OPENCL)
    target_link_libraries(GPURegistration PRIVATE ${CMAKE_DL_LIBS})
  endif()
endfunction()
