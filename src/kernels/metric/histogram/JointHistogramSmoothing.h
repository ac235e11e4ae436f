// SPDX-License-Identifier: Apache-2.0
// Along which bins the counts of a joint histogram are smoothed, whatever numbers they are: an edge's is repeated beyond it, as
// itk::DiscreteGaussianImageFilter does.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_JointHistogramSmoothing_h
#define gpureg_kernels_JointHistogramSmoothing_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Of the Gaussian: itk::DiscreteGaussianImageFilter's kernels have no more weights on either side. */
  MostSmoothingWeights = 33
};

/** The two that the Gaussian's weight number r belongs to, about a place in a line of so many bins. */
GPUREG_FUNCTION void
FindSmoothedBins(int bins, int place, int r, int * before, int * behind)
{
  const int last = bins - 1;
  *before = place > r ? place - r : 0;
  *behind = place + r < last ? place + r : last;
}

GPUREG_NAMESPACE_END

#endif
