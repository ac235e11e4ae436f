# SPDX-License-Identifier: Apache-2.0
set(
  DOCUMENTATION
  "Image registration on GPUs: metrics, filters and registration methods (linear, free-form, greedy, SyN)
that slot into ITK's own pipelines and compute with CUDA, with OpenCL or on host threads. Follows Ansorge 2008, Modat 2010, Sun 2010, Li 2015 and
Shamonin 2014."
)

itk_module(
  GPURegistration
  ENABLE_SHARED
  DEPENDS
    ITKCommon
    ITKMetricsv4
    ITKOptimizersv4
    ITKRegistrationMethodsv4
    ITKSpatialObjects
    ITKTransform
    ITKDisplacementField
    ITKImageFunction
    ITKImageGradient
    ITKImageGrid
    ITKRegistrationCommon
    ITKSmoothing
  TEST_DEPENDS
    ITKIOMeta
    ITKIONIFTI
  EXCLUDE_FROM_DEFAULT
  DESCRIPTION "${DOCUMENTATION}"
)
