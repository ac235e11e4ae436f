// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLProgram_h
#define gpureg_OpenCLProgram_h

#include "opencl/runtime/OpenCLBindings.h"

#include <string>

namespace gpureg
{

/** The programs' sources: each is Prelude.cl, headers of src/kernels and the entry points in one text, see EmbedKernels.cmake. */
extern const char * const OpenCLControlGridSource;
extern const char * const OpenCLControlStepSource;
extern const char * const OpenCLControlPenaltySource;
extern const char * const OpenCLCorrelationRatioSource;
extern const char * const OpenCLCorrelationRatioSchemesSource;
extern const char * const OpenCLDisplacementSource;
extern const char * const OpenCLFieldSource;
extern const char * const OpenCLFieldStartSource;
extern const char * const OpenCLFieldVectorsSource;
extern const char * const OpenCLImageSource;
extern const char * const OpenCLJointHistogramSource;
extern const char * const OpenCLJointHistogramSummarySource;
extern const char * const OpenCLPreTransformSource;
extern const char * const OpenCLLineSource;
extern const char * const OpenCLMattesSource;
extern const char * const OpenCLMattesVoxelForcesSource;
extern const char * const OpenCLMovingImageSource;
extern const char * const OpenCLNeighborhoodSource;
extern const char * const OpenCLNumberSource;
extern const char * const OpenCLPairSource;
extern const char * const OpenCLPartialVolumeSource;
extern const char * const OpenCLResampleSource;
extern const char * const OpenCLSimilaritySource;
extern const char * const OpenCLWindowedSource;

/** The source with the entry point of an item or group kernel, to which GetOpenCLEntry() points; see KernelArguments.h. */
struct OpenCLKernelSource
{
  const char * text;
  /** Says whether the source computes in double precision, whatever real is. */
  bool needsDoubles;
};

/** Returns a source's program, compiled with these options for a device or loaded from the cache on disk (OpenCLProgramCache). Stores a
 *  program that was compiled in the cache.
 *  \throws Error with the compiler's messages. */
cl::Program
BuildOpenCLProgram(const cl::Context & context,
                   const cl::Device &  device,
                   const std::string & deviceName,
                   const char *        source,
                   const std::string & options);

} // namespace gpureg

#endif
