// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLProgram_h
#define gpureg_OpenCLProgram_h

#include "opencl/runtime/OpenCLBindings.h"

#include <string>

namespace gpureg
{

/** The programs' sources, each Prelude.cl, headers of src/kernels and the entry points in one text: see
 *  EmbedKernels.cmake. */
extern const char * const OpenCLControlGridSource;
extern const char * const OpenCLControlStepSource;
extern const char * const OpenCLControlPenaltySource;
extern const char * const OpenCLCorrelationRatioSource;
extern const char * const OpenCLCorrelationRatioSchemesSource;
extern const char * const OpenCLDisplacementSource;
extern const char * const OpenCLFieldSource;
extern const char * const OpenCLImageSource;
extern const char * const OpenCLJointHistogramSource;
extern const char * const OpenCLJointHistogramSummarySource;
extern const char * const OpenCLPreTransformSource;
extern const char * const OpenCLLineSource;
extern const char * const OpenCLMattesSource;
extern const char * const OpenCLMovingImageSource;
extern const char * const OpenCLNeighborhoodSource;
extern const char * const OpenCLPairSource;
extern const char * const OpenCLPartialVolumeSource;
extern const char * const OpenCLResampleSource;
extern const char * const OpenCLSimilaritySource;

/** A source's kernels compiled with these options for a device, from the cache on disk (OpenCLProgramCache) where
 *  it has them; what was compiled anew is put there.
 *  \throws Error with the compiler's messages. */
cl::Program
BuildOpenCLProgram(const cl::Context & context,
                   const cl::Device &  device,
                   const std::string & deviceName,
                   const char *        source,
                   const std::string & options);

} // namespace gpureg

#endif
