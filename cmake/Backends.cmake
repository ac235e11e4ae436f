# SPDX-License-Identifier: Apache-2.0
# Adds the sources of the backends that FindBackends.cmake has found to GPURegistration_SRCS.

set(_cuda_dir ${GPURegistration_SOURCE_DIR}/cuda)
set(_opencl_dir ${GPURegistration_SOURCE_DIR}/opencl)

# gpuregistration_list_sources(VARIABLE FOLDER SUFFIX FILE...): sets the variable to these files of a device's folder and its passes.
function(gpuregistration_list_sources variable folder suffix)
  set(_sources ${ARGN})
  foreach(_passes IN LISTS GPURegistration_PASSES)
    list(APPEND _sources ${_passes}.${suffix})
  endforeach()
  list(TRANSFORM _sources PREPEND ${folder}/)
  set(${variable} ${_sources} PARENT_SCOPE)
endfunction()

if(GPURegistration_HAS_CUDA)
  gpuregistration_list_sources(
      _cuda_sources ${_cuda_dir} cu
      GroupKernels.cu
      ItemKernels.cu
      PairKernels.cu
      metric/histogram/CorrelationRatioSchemePasses.cu
      metric/histogram/CudaSort.cu
      runtime/CudaBackend.cu
      runtime/CudaDeviceScope.cu
      runtime/CudaError.cu
      runtime/CudaQueue.cu)
  list(APPEND GPURegistration_SRCS ${_cuda_sources})
endif()
if(GPURegistration_HAS_OPENCL)
  # gpuregistration_embed_kernels(NAME [DOUBLES] FILE... [ITEMS FILE...]): makes the program NAME part of the library, a text, of
  # opencl/core/Prelude.cl and these files, in the order in which they build on each other: headers of src/kernels and .cl files of opencl.
  # The program has the entry points of the item kernels and group kernels that the headers behind ITEMS declare. DOUBLES: it computes in
  # double precision, whatever real is.
  function(gpuregistration_embed_kernels name)
    cmake_parse_arguments(PARSE_ARGV 1 _embed "DOUBLES" "" "ITEMS")
    set(_sources core/Prelude.cl ${_embed_UNPARSED_ARGUMENTS} ${_embed_ITEMS})
    foreach(_files _sources _embed_ITEMS)
      list(TRANSFORM ${_files} PREPEND ${_opencl_dir}/ REGEX "[.]cl$")
      list(TRANSFORM ${_files} PREPEND ${GPURegistration_SOURCE_DIR}/src/kernels/ REGEX "[.]h$")
    endforeach()
    set(_output ${CMAKE_CURRENT_BINARY_DIR}/OpenCL${name}Source.cpp)
    add_custom_command(
      OUTPUT ${_output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${_output} -DNAME=OpenCL${name}Source "-DSOURCES=${_sources}" "-DITEMS=${_embed_ITEMS}"
              -DDOUBLES=${_embed_DOUBLES} -P ${_opencl_dir}/runtime/EmbedKernels.cmake
      DEPENDS ${_sources} ${_opencl_dir}/runtime/EmbedKernels.cmake
      COMMENT "Embedding the OpenCL kernels of ${name}"
      VERBATIM)
    set_property(DIRECTORY APPEND PROPERTY GPURegistration_OPENCL_PROGRAMS ${_output})
  endfunction()
  # A metric: its own formulas stand between what its samples are and what its groups do.
  function(gpuregistration_embed_metric_kernels name)
    gpuregistration_embed_kernels(
      ${name}
      transform/BSpline.h
      transform/FixedMap.h
      core/Geometry.h
      metric/samples/Position.h
      metric/samples/Interpolation.h
      transform/TransformChain.h
      transform/ChainSlopes.h
      metric/samples/ForceSums.h
      core/Evaluated.h
      image/InvalidSample.h
      metric/samples/Samples.h
      metric/samples/FixedPointSamples.h
      metric/samples/FixedPointGrid.h
      metric/samples/SampleChain.h
      core/LaneLimits.h
      metric/samples/SamplePartition.h
      core/LaneReduction.h
      metric/samples/ForceKernels.h
      ${ARGN})
  endfunction()
  # Embeds a metric that has a histogram: its formulas (FORMULAS), how samples are counted where they do not say it (COUNTING), what its groups
  # do besides (GROUPS), and the entry points (ENTRIES).
  function(gpuregistration_embed_histogram_kernels name metric)
    cmake_parse_arguments(PARSE_ARGV 2 _embed "" "" "FORMULAS;COUNTING;GROUPS;ENTRIES")
    gpuregistration_embed_metric_kernels(
      ${name}
      metric/histogram/Histogram.h
      ${_embed_FORMULAS}
      metric/histogram/${metric}Metric.cl
      ${_embed_COUNTING}
      metric/histogram/HistogramKernels.h
      ${_embed_GROUPS}
      metric/samples/SampleVolumes.cl
      ${_embed_ENTRIES})
  endfunction()
  set(_batch_groups metric/histogram/HistogramBatchKernels.h)
  set(_batch_entries metric/histogram/HistogramKernels.cl)
  # Metrics that have a SummaryGroup() take these, too.
  set(_summary_groups ${_batch_groups} metric/histogram/HistogramSummaryKernels.h)
  set(_summary_entries ${_batch_entries} metric/histogram/HistogramSummaryKernels.cl)
  gpuregistration_embed_histogram_kernels(
    Mattes Mattes FORMULAS metric/histogram/MattesSample.h metric/histogram/MattesFixedPoint.h metric/histogram/EntropyTable.h
    COUNTING core/LaneSum.h metric/histogram/WindowCount.h
    GROUPS metric/histogram/EntropyTableKernels.h ${_summary_groups}
    ENTRIES ${_summary_entries})
  gpuregistration_embed_metric_kernels(
    MattesVoxelForces metric/histogram/Histogram.h metric/histogram/MattesSample.h metric/histogram/MattesFixedPoint.h
    ITEMS metric/histogram/MattesVoxelForces.h)
  gpuregistration_embed_histogram_kernels(
    PartialVolume PartialVolume FORMULAS metric/histogram/PartialVolumeSample.h metric/histogram/PartialVolumeFixedPoint.h
    metric/histogram/EntropyTable.h COUNTING core/LaneSum.h
    GROUPS metric/histogram/EntropyTableKernels.h ${_summary_groups} ENTRIES ${_summary_entries})
  gpuregistration_embed_histogram_kernels(
    JointHistogram JointHistogram FORMULAS metric/histogram/JointHistogramSmoothing.h metric/histogram/JointHistogramSample.h
    metric/histogram/JointHistogramFixedPoint.h metric/histogram/JointHistogramTable.h metric/histogram/JointHistogramKernels.h
    COUNTING core/LaneSum.h GROUPS ${_batch_groups} ENTRIES ${_batch_entries})
  # In doubles.
  gpuregistration_embed_metric_kernels(
    JointHistogramSummary metric/histogram/Histogram.h core/RoundedProduct.h core/RoundedLog.h
    metric/histogram/JointHistogramSmoothing.h metric/histogram/JointHistogramDensity.h
    metric/histogram/JointHistogramSummary.h metric/histogram/JointHistogramSummaryKernels.h
    metric/histogram/JointHistogramSummaryMetric.cl metric/histogram/HistogramSummaryKernels.h
    metric/samples/SampleVolumes.cl metric/histogram/HistogramSummaryKernels.cl)
  gpuregistration_embed_histogram_kernels(
    CorrelationRatio CorrelationRatio FORMULAS metric/histogram/BorderWeight.h metric/histogram/CorrelationRatio.h
    metric/histogram/CorrelationRatioKernels.h COUNTING metric/histogram/CorrelationRatioCount.h GROUPS ${_summary_groups}
    ENTRIES ${_summary_entries})
  gpuregistration_embed_histogram_kernels(
    CorrelationRatioSchemes CorrelationRatio FORMULAS metric/histogram/BorderWeight.h metric/histogram/CorrelationRatio.h
    COUNTING metric/histogram/CorrelationRatioCount.h GROUPS metric/histogram/CorrelationRatioSchemes.h
    ENTRIES metric/histogram/CorrelationRatioSchemes.cl)
  gpuregistration_embed_metric_kernels(
    Pair metric/ValuePairs.h metric/samples/SampleVariants.h metric/samples/SampleVolumes.cl ITEMS metric/pairs/ValuePairKernels.h)
  gpuregistration_embed_metric_kernels(
    Similarity metric/ValuePairs.h metric/SimilaritySums.h ITEMS metric/SimilaritySumKernels.h)
  gpuregistration_embed_metric_kernels(
    Neighborhood metric/ValuePairs.h core/RoundedProduct.h metric/neighborhood/NeighborhoodCorrelation.h
    metric/neighborhood/NeighborhoodWalks.h metric/neighborhood/NeighborhoodTiles.h metric/neighborhood/NeighborhoodTerms.h
    metric/neighborhood/NeighborhoodKernels.h metric/neighborhood/NeighborhoodTileKernels.h
    metric/neighborhood/NeighborhoodBatchKernels.h metric/neighborhood/NeighborhoodMetric.cl metric/samples/SampleVolumes.cl
    metric/neighborhood/NeighborhoodKernels.cl)
  gpuregistration_embed_metric_kernels(
    ControlGrid ITEMS metric/samples/ControlGrid.h metric/samples/ControlGridKernels.h)
  gpuregistration_embed_metric_kernels(
    PreTransform ITEMS metric/samples/PreTransformMoves.h metric/samples/PreTransformKernels.h)
  gpuregistration_embed_kernels(
    ControlStep core/Adam.h core/Evaluated.h transform/ControlVector.h core/LaneReduction.h
    ITEMS registration/free_form/ControlSteps.h registration/free_form/ControlLineKernels.h)
  gpuregistration_embed_kernels(FieldVectors DOUBLES core/RoundedProduct.h ITEMS transform/FieldVectors.h)
  gpuregistration_embed_kernels(Displacement DOUBLES ITEMS resample/Displacement.h)
  gpuregistration_embed_kernels(Number DOUBLES core/NumberForm.h ITEMS image/NumberTypes.h)
  gpuregistration_embed_kernels(
    Resample
    transform/BSpline.h
    transform/FixedMap.h
    transform/TransformChain.h
    resample/ResampleArguments.h
    resample/ResampleInterpolation.h
    resample/Resample.h
    resample/ResampleCut.h
    ITEMS
    resample/ResampleKernels.h)
  gpuregistration_embed_kernels(
    Windowed transform/BSpline.h transform/FixedMap.h transform/TransformChain.h ITEMS resample/WindowedInterpolation.h)
  gpuregistration_embed_kernels(
    Line DOUBLES filter/LineRecursion.h core/RoundedProduct.h
    ITEMS filter/LineConvolution.h filter/GridInterpolation.h filter/LineKernels.h)
  gpuregistration_embed_kernels(
    Image DOUBLES core/Geometry.h core/RoundedProduct.h core/Strips.h image/InvalidSample.h ITEMS image/ImageValues.h image/ContentHash.h)
  gpuregistration_embed_kernels(
    MovingImage core/Geometry.h ITEMS metric/samples/MovingVoxels.h)
  gpuregistration_embed_kernels(
    ControlPenalty core/Determinant.h transform/ControlVector.h penalty/ControlPenalties.h
    penalty/ControlPenaltyGradient.h ITEMS penalty/ControlPenaltyKernels.h)
  gpuregistration_embed_kernels(
    Field core/Adam.h core/Determinant.h core/Evaluated.h core/NumberForm.h core/Strips.h transform/FixedMap.h ITEMS field/FieldGrid.h field/FieldComposition.h
    field/FieldSums.h field/FieldAdam.h field/FieldBlocks.h field/FieldSmoothing.h field/FieldInversion.h field/FieldNewton.h
    field/FieldJacobian.h field/FieldUnfolding.h field/FieldReduction.h field/MiddleImage.h field/FieldWarp.h field/BoxCorrelation.h field/SampleForces.h
    field/ForceSum.h)
  gpuregistration_embed_kernels(
    FieldStart core/Determinant.h transform/BSpline.h transform/FixedMap.h transform/TransformChain.h transform/ChainSlopes.h field/FieldGrid.h
    field/FieldNewton.h ITEMS field/FieldStart.h)
  gpuregistration_list_sources(
      _opencl_sources ${_opencl_dir} cpp
      OpenCLStructSizes.cpp
      metric/histogram/CorrelationRatioSchemePasses.cpp
      runtime/OpenCLBackend.cpp
      runtime/OpenCLDevice.cpp
      runtime/OpenCLError.cpp
      runtime/OpenCLKernels.cpp
      runtime/OpenCLLoader.cpp
      runtime/OpenCLProgram.cpp
      runtime/OpenCLProgramCache.cpp
      runtime/OpenCLQueue.cpp
      runtime/PrivateFolder.cpp
      runtime/SignalHandlers.cpp)
  get_property(_opencl_programs DIRECTORY PROPERTY GPURegistration_OPENCL_PROGRAMS)
  list(APPEND _opencl_sources ${_opencl_programs})
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

# Adds to the target, once it exists, all that the backends need.
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
