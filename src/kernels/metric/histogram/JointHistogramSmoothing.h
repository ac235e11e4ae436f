// SPDX-License-Identifier: Apache-2.0
// The bins over which the counts of a joint histogram are smoothed, for counts of any type: beyond an edge, the edge's count is repeated,
// as in itk::DiscreteGaussianImageFilter.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_JointHistogramSmoothing_h
#define gpureg_kernels_JointHistogramSmoothing_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** The most weights of the Gaussian on either side, as in itk::DiscreteGaussianImageFilter. */
  MostSmoothingWeights = 33
};

/** Finds the two bins to which the Gaussian's weight number r belongs, around a place in a line of `bins` bins. */
GPUREG_FUNCTION void
ComputeSmoothedBins(int bins, int place, int r, int * before, int * behind)
{
  const int last = bins - 1;
  *before = place > r ? place - r : 0;
  *behind = place + r < last ? place + r : last;
}

GPUREG_NAMESPACE_END

#endif
