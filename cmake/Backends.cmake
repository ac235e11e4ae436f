# SPDX-License-Identifier: Apache-2.0
# Adds the sources of the backends that FindBackends.cmake has found to GPURegistration_SRCS.

set(_cuda_dir ${GPURegistration_SOURCE_DIR}/cuda)
set(_opencl_dir ${GPURegistration_SOURCE_DIR}/opencl)

if(GPURegistration_HAS_CUDA)
  list(
    APPEND
    GPURegistration_SRCS
    ${_cuda_dir}/ControlGridPasses.cu
    ${_cuda_dir}/ControlStepPasses.cu
    ${_cuda_dir}/ControlPenaltyPasses.cu
    ${_cuda_dir}/CorrelationRatioPasses.cu
    ${_cuda_dir}/CorrelationRatioSchemePasses.cu
    ${_cuda_dir}/CudaBackend.cu
    ${_cuda_dir}/CudaDeviceScope.cu
    ${_cuda_dir}/CudaError.cu
    ${_cuda_dir}/CudaQueue.cu
    ${_cuda_dir}/CudaSort.cu
    ${_cuda_dir}/DisplacementPasses.cu
    ${_cuda_dir}/ImagePasses.cu
    ${_cuda_dir}/JointHistogramPasses.cu
    ${_cuda_dir}/LeadingGridPasses.cu
    ${_cuda_dir}/LinePasses.cu
    ${_cuda_dir}/MattesPasses.cu
    ${_cuda_dir}/MovingImagePasses.cu
    ${_cuda_dir}/NeighborhoodPasses.cu
    ${_cuda_dir}/NumberPasses.cu
    ${_cuda_dir}/PairPasses.cu
    ${_cuda_dir}/PartialVolumePasses.cu
    ${_cuda_dir}/ResamplePasses.cu
    ${_cuda_dir}/SimilarityPasses.cu)
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
              ${_opencl_dir}/EmbedKernels.cmake
      DEPENDS ${ARGN} ${_opencl_dir}/EmbedKernels.cmake
      COMMENT "Embedding the OpenCL kernels of ${name}"
      VERBATIM)
  endfunction()
  # A metric: its own formulas stand between what its samples are and what its groups do.
  function(gpuregistration_embed_metric_kernels name)
    gpuregistration_embed_kernels(
      ${name}
      ${_opencl_dir}/Prelude.cl
      ${_kernel_dir}/BSpline.h
      ${_kernel_dir}/FixedMap.h
      ${_kernel_dir}/Geometry.h
      ${_kernel_dir}/Position.h
      ${_kernel_dir}/Interpolation.h
      ${_kernel_dir}/TransformChain.h
      ${_kernel_dir}/ChainSlopes.h
      ${_kernel_dir}/ForceSums.h
      ${_kernel_dir}/Evaluated.h
      ${_kernel_dir}/InvalidSample.h
      ${_kernel_dir}/Samples.h
      ${_kernel_dir}/PreciseSamples.h
      ${_kernel_dir}/PreciseGrid.h
      ${_kernel_dir}/SampleChain.h
      ${_kernel_dir}/SamplePartition.h
      ${_kernel_dir}/LaneReduction.h
      ${_kernel_dir}/ForceKernels.h
      ${ARGN})
  endfunction()
  # One that has a histogram: its formulas (FORMULAS), how samples are counted where they do not say it (COUNTING), what its groups
  # do besides (GROUPS), and the entry points (ENTRIES).
  function(gpuregistration_embed_histogram_kernels name metric)
    cmake_parse_arguments(PARSE_ARGV 2 _embed "" "" "FORMULAS;COUNTING;GROUPS;ENTRIES")
    gpuregistration_embed_metric_kernels(
      ${name}
      ${_kernel_dir}/Histogram.h
      ${_embed_FORMULAS}
      ${_opencl_dir}/${metric}Metric.cl
      ${_embed_COUNTING}
      ${_kernel_dir}/HistogramKernels.h
      ${_embed_GROUPS}
      ${_opencl_dir}/SampleVolumes.cl
      ${_embed_ENTRIES})
  endfunction()
  set(_batch_groups ${_kernel_dir}/HistogramBatchKernels.h)
  set(_batch_entries ${_opencl_dir}/HistogramKernels.cl)
  # Of those that have a SummaryGroup().
  set(_summary_groups ${_batch_groups} ${_kernel_dir}/HistogramSummaryKernels.h)
  set(_summary_entries ${_batch_entries} ${_opencl_dir}/HistogramSummaryKernels.cl)
  gpuregistration_embed_histogram_kernels(
    Mattes Mattes FORMULAS ${_kernel_dir}/MattesSample.h ${_kernel_dir}/MattesPrecise.h ${_kernel_dir}/EntropyTable.h
    COUNTING ${_kernel_dir}/LaneSum.h ${_kernel_dir}/WindowCount.h
    GROUPS ${_kernel_dir}/EntropyTableKernels.h ${_summary_groups}
    ENTRIES ${_summary_entries})
  gpuregistration_embed_histogram_kernels(
    PartialVolume PartialVolume FORMULAS ${_kernel_dir}/PartialVolumeSample.h ${_kernel_dir}/PartialVolumePrecise.h
    ${_kernel_dir}/EntropyTable.h COUNTING ${_kernel_dir}/LaneSum.h
    GROUPS ${_kernel_dir}/EntropyTableKernels.h ${_summary_groups} ENTRIES ${_summary_entries})
  gpuregistration_embed_histogram_kernels(
    JointHistogram JointHistogram FORMULAS ${_kernel_dir}/JointHistogramSmoothing.h ${_kernel_dir}/JointHistogramSample.h
    ${_kernel_dir}/JointHistogramPrecise.h ${_kernel_dir}/JointHistogramTable.h ${_kernel_dir}/JointHistogramKernels.h
    COUNTING ${_kernel_dir}/LaneSum.h GROUPS ${_batch_groups} ENTRIES ${_batch_entries})
  # In doubles.
  gpuregistration_embed_metric_kernels(
    JointHistogramSummary ${_kernel_dir}/Histogram.h ${_kernel_dir}/RoundedProduct.h ${_kernel_dir}/RoundedLog.h
    ${_kernel_dir}/JointHistogramSmoothing.h ${_kernel_dir}/JointHistogramDensity.h
    ${_kernel_dir}/JointHistogramSummary.h ${_kernel_dir}/JointHistogramSummaryKernels.h
    ${_opencl_dir}/JointHistogramSummaryMetric.cl ${_kernel_dir}/HistogramSummaryKernels.h
    ${_opencl_dir}/SampleVolumes.cl ${_opencl_dir}/HistogramSummaryKernels.cl)
  gpuregistration_embed_histogram_kernels(
    CorrelationRatio CorrelationRatio FORMULAS ${_kernel_dir}/BorderWeight.h ${_kernel_dir}/CorrelationRatio.h
    ${_kernel_dir}/CorrelationRatioKernels.h COUNTING ${_kernel_dir}/CorrelationRatioCount.h GROUPS ${_summary_groups}
    ENTRIES ${_summary_entries})
  gpuregistration_embed_histogram_kernels(
    CorrelationRatioSchemes CorrelationRatio FORMULAS ${_kernel_dir}/BorderWeight.h ${_kernel_dir}/CorrelationRatio.h
    COUNTING ${_kernel_dir}/CorrelationRatioCount.h GROUPS ${_kernel_dir}/CorrelationRatioSchemes.h
    ENTRIES ${_opencl_dir}/CorrelationRatioSchemes.cl)
  gpuregistration_embed_metric_kernels(
    Pair ${_kernel_dir}/ValuePairs.h ${_kernel_dir}/ValuePairKernels.h ${_opencl_dir}/PairMetric.cl
    ${_opencl_dir}/SampleVolumes.cl ${_opencl_dir}/PairKernels.cl)
  gpuregistration_embed_metric_kernels(
    Similarity ${_kernel_dir}/ValuePairs.h ${_kernel_dir}/SimilaritySums.h ${_kernel_dir}/SimilaritySumKernels.h
    ${_opencl_dir}/SimilarityKernels.cl)
  gpuregistration_embed_metric_kernels(
    Neighborhood ${_kernel_dir}/ValuePairs.h ${_kernel_dir}/RoundedProduct.h ${_kernel_dir}/NeighborhoodCorrelation.h
    ${_kernel_dir}/NeighborhoodWalks.h ${_kernel_dir}/NeighborhoodTiles.h ${_kernel_dir}/NeighborhoodTerms.h
    ${_kernel_dir}/NeighborhoodKernels.h ${_kernel_dir}/NeighborhoodTileKernels.h
    ${_kernel_dir}/NeighborhoodBatchKernels.h ${_opencl_dir}/NeighborhoodMetric.cl ${_opencl_dir}/SampleVolumes.cl
    ${_opencl_dir}/NeighborhoodKernels.cl)
  gpuregistration_embed_metric_kernels(
    ControlGrid ${_kernel_dir}/ControlGrid.h ${_kernel_dir}/ControlGridKernels.h ${_opencl_dir}/ControlGridKernels.cl)
  gpuregistration_embed_metric_kernels(
    LeadingGrid ${_kernel_dir}/LeadingMoves.h ${_kernel_dir}/LeadingGridKernels.h ${_opencl_dir}/LeadingGridKernels.cl)
  gpuregistration_embed_kernels(ControlStep ${_opencl_dir}/Prelude.cl ${_kernel_dir}/Evaluated.h ${_kernel_dir}/ControlVector.h ${_kernel_dir}/ControlSteps.h
                                ${_kernel_dir}/LaneReduction.h ${_kernel_dir}/ControlStepKernels.h ${_opencl_dir}/ControlStepKernels.cl)
  gpuregistration_embed_kernels(Displacement ${_opencl_dir}/Prelude.cl ${_kernel_dir}/Displacement.h
                                ${_opencl_dir}/DisplacementKernels.cl)
  gpuregistration_embed_kernels(
    Resample
    ${_opencl_dir}/Prelude.cl
    ${_kernel_dir}/BSpline.h
    ${_kernel_dir}/FixedMap.h
    ${_kernel_dir}/TransformChain.h
    ${_kernel_dir}/Resample.h
    ${_kernel_dir}/ResampleCut.h
    ${_kernel_dir}/ResampleKernels.h
    ${_opencl_dir}/ResampleKernels.cl)
  gpuregistration_embed_kernels(
    Line
    ${_opencl_dir}/Prelude.cl
    ${_kernel_dir}/LineRecursion.h
    ${_kernel_dir}/RoundedProduct.h
    ${_kernel_dir}/LineConvolution.h
    ${_kernel_dir}/GridInterpolation.h
    ${_kernel_dir}/LineKernels.h
    ${_opencl_dir}/LineKernels.cl)
  gpuregistration_embed_kernels(
    Image
    ${_opencl_dir}/Prelude.cl
    ${_kernel_dir}/Geometry.h
    ${_kernel_dir}/RoundedProduct.h
    ${_kernel_dir}/InvalidSample.h
    ${_kernel_dir}/ImageValues.h
    ${_kernel_dir}/ContentHash.h
    ${_opencl_dir}/ImageKernels.cl)
  gpuregistration_embed_kernels(
    MovingImage ${_opencl_dir}/Prelude.cl ${_kernel_dir}/Geometry.h ${_kernel_dir}/MovingVoxels.h
    ${_opencl_dir}/MovingImageKernels.cl)
  gpuregistration_embed_kernels(
    ControlPenalty ${_opencl_dir}/Prelude.cl ${_kernel_dir}/ControlVector.h ${_kernel_dir}/ControlPenalties.h ${_kernel_dir}/ControlPenaltyKernels.h
    ${_opencl_dir}/ControlPenaltyKernels.cl)
  set(_opencl_sources
      ${_opencl_dir}/ControlGridPasses.cpp
      ${_opencl_dir}/ControlStepPasses.cpp
      ${_opencl_dir}/ControlPenaltyPasses.cpp
      ${_opencl_dir}/CorrelationRatioPasses.cpp
      ${_opencl_dir}/CorrelationRatioSchemePasses.cpp
      ${_opencl_dir}/DisplacementPasses.cpp
      ${_opencl_dir}/ImagePasses.cpp
      ${_opencl_dir}/JointHistogramPasses.cpp
      ${_opencl_dir}/LeadingGridPasses.cpp
      ${_opencl_dir}/LinePasses.cpp
      ${_opencl_dir}/MattesPasses.cpp
      ${_opencl_dir}/MovingImagePasses.cpp
      ${_opencl_dir}/NeighborhoodPasses.cpp
      ${_opencl_dir}/OpenCLBackend.cpp
      ${_opencl_dir}/OpenCLDevice.cpp
      ${_opencl_dir}/OpenCLError.cpp
      ${_opencl_dir}/OpenCLKernels.cpp
      ${_opencl_dir}/OpenCLLoader.cpp
      ${_opencl_dir}/OpenCLProgram.cpp
      ${_opencl_dir}/OpenCLProgramCache.cpp
      ${_opencl_dir}/OpenCLQueue.cpp
      ${_opencl_dir}/OpenCLStructSizes.cpp
      ${_opencl_dir}/PairPasses.cpp
      ${_opencl_dir}/PartialVolumePasses.cpp
      ${_opencl_dir}/PrivateFolder.cpp
      ${_opencl_dir}/ResamplePasses.cpp
      ${_opencl_dir}/SimilarityPasses.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLControlGridSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLControlStepSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLControlPenaltySource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLCorrelationRatioSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLCorrelationRatioSchemesSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLDisplacementSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLImageSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLJointHistogramSource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLJointHistogramSummarySource.cpp
      ${CMAKE_CURRENT_BINARY_DIR}/OpenCLLeadingGridSource.cpp
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

# What the backends need of the target, once it exists.
function(gpuregistration_configure_backends)
  if(GPURegistration_HAS_CUDA)
    target_compile_definitions(GPURegistration PRIVATE GPUREG_USE_CUDA)
    target_include_directories(GPURegistration PRIVATE ${_cuda_dir})
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
    set_property(SOURCE ${_cuda_dir}/CudaBackend.cu APPEND PROPERTY COMPILE_DEFINITIONS
                                                                    "GPUREG_CUDA_ARCHITECTURES=\"${_architectures}\"")
  endif()
  if(GPURegistration_HAS_OPENCL)
    target_compile_definitions(GPURegistration PRIVATE GPUREG_USE_OPENCL)
    target_include_directories(GPURegistration PRIVATE ${_opencl_dir} ${GPURegistration_OPENCL_INCLUDE_DIR})
    target_link_libraries(GPURegistration PRIVATE ${CMAKE_DL_LIBS})
  endif()
endfunction()
