// SPDX-License-Identifier: Apache-2.0
// From the joint histogram to the table that the second pass looks up: dM/dp(i,k), the metric's
// derivative by each entry of the joint density, up to terms that cancel because densities sum to 1.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_MattesTable_h
#define gpureg_kernels_MattesTable_h

GPUREG_NAMESPACE_BEGIN

/** -p ln p, 0 for an empty bin. */
GPUREG_FUNCTION float
EntropyTerm(float p)
{
  return p > 0.0f ? -p * LogOf(p) : 0.0f;
}

enum
{
  /** 1/LeastCountInverse of the histogram's unit stands for the weights that were rounded to 0. */
  LeastCountInverse = 4
};

/** Mattes' MI: ln(p/p_m) (Thevenaz & Unser 2000, equation 23). Normalised MI (H_f + H_m)/H_j
 *  (Studholme 1999; Modat 2010): [-ln p_m + NMI ln p]/H_j.
 *  joint and movingMarginal are densities, unit the density of one unit of the histogram. A bin that is
 *  empty but for rounding still has a sample whose window reaches it, with a derivative that is not as
 *  small as its weight: t^2/2 against t^3/6. Without its logarithm, sparse histograms lose three digits. */
GPUREG_FUNCTION float
TableEntry(int normalized, float joint, float movingMarginal, float unit, float nmi, float inverseJointEntropy)
{
  const float least = unit * (1.0f / (float)LeastCountInverse);
  const float p = joint > least ? joint : least;
  const float q = movingMarginal > least ? movingMarginal : least;
  return normalized ? MultiplyAdd(nmi, LogOf(p), -LogOf(q)) * inverseJointEntropy : LogOf(p / q);
}

GPUREG_NAMESPACE_END

#endif
