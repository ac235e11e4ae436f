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

/** Mattes' MI: ln(p/p_m) (Thevenaz & Unser 2000, equation 23). Normalised MI (H_f + H_m)/H_j
 *  (Studholme 1999; Modat 2010): [-ln p_m + NMI ln p]/H_j.
 *  joint and movingMarginal are densities; an empty bin has no derivative. */
GPUREG_FUNCTION float
TableEntry(int normalized, float joint, float movingMarginal, float nmi, float inverseJointEntropy)
{
  if (!(joint > 0.0f))
  {
    return 0.0f;
  }
  return normalized ? MultiplyAdd(nmi, LogOf(joint), -LogOf(movingMarginal)) * inverseJointEntropy
                    : LogOf(joint / movingMarginal);
}

GPUREG_NAMESPACE_END

#endif
