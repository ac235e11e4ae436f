// SPDX-License-Identifier: Apache-2.0
// The table that the second pass looks up, from the joint histogram: dM/dp(i,k), the metric's derivative by each entry of the joint
// density, up to terms that cancel because densities sum to 1.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_EntropyTable_h
#define gpureg_kernels_EntropyTable_h

GPUREG_NAMESPACE_BEGIN

/** Returns -p ln p; 0 for an empty bin. */
GPUREG_FUNCTION float
EntropyTerm(float p)
{
  return p > 0.0f ? -p * LogOf(p) : 0.0f;
}

enum
{
  /** An entry that is empty counts as 1/LeastCountInverse of the histogram's unit, in place of the weights that were rounded to 0. */
  LeastCountInverse = 4
};

/** Returns an entry of the table. Mattes mutual information: ln(p/p_m) (Thevenaz & Unser 2000, equation 23). Normalized mutual
 *  information (H_f + H_m)/H_j (Studholme 1999; Modat 2010): [-ln p_m + NMI ln p]/H_j.
 *  joint and movingMarginal are densities, unit the density of one unit of the histogram. An entry whose weights were all rounded to 0 may
 *  still be reached by a sample's window, with a derivative that is not as small as its weight: t^2/2 against t^3/6. Without its
 *  logarithm, derivatives of sparse histograms lose three digits. */
GPUREG_FUNCTION float
TableEntry(int normalized, float joint, float movingMarginal, float unit, float nmi, float inverseJointEntropy)
{
  const float least = unit * (1.0f / (float)LeastCountInverse);
  const float p = joint > least ? joint : least;
  const float q = movingMarginal > least ? movingMarginal : least;
  return normalized ? MultiplyAdd(nmi, LogOf(p), -LogOf(q)) * inverseJointEntropy : LogOf(p / q);
}

/** Returns what an entry adds to the mutual information, in nats, from densities. */
GPUREG_FUNCTION float
MutualInformationTerm(float joint, float fixedMarginal, float movingMarginal)
{
  return joint > 0.0f ? joint * LogOf(joint / (fixedMarginal * movingMarginal)) : 0.0f;
}

/** Returns the logarithm of an entry's or a marginal's count, that of an empty one as in TableEntry, in units of 2^-32. */
GPUREG_FUNCTION i64
LogOfCount(u64 count)
{
  return count > 0 ? FixedLogOf(count) : -FixedLogOf(LeastCountInverse);
}

/** Returns n ln n for the count n of an entry or a marginal, in the unit of n. */
GPUREG_FUNCTION i64
CountTimesLog(u64 count)
{
  return count > 0 ? MultiplyFixed(FixedLogOf(count), (i64)count) : 0;
}

/** Returns TableEntry in units of 2^-32, from logarithms by LogOfCount. The logarithm of the density's unit is left out: it is the same
 *  in all entries, and the weights of a force add up to 0. */
GPUREG_FUNCTION i64
FixedPointTableEntry(int normalized, i64 joint, i64 movingMarginal, float nmi, float inverseJointEntropy)
{
  if (!normalized)
  {
    return joint - movingMarginal;
  }
  /* Clamped, so that the result fits into 64 bits even if there is next to no entropy. */
  const float inverse = SmallerOf(inverseJointEntropy, 65536.0f);
  return MultiplyFixed(MultiplyFixed(joint, ToFixed(nmi)) - movingMarginal, ToFixed(inverse));
}

GPUREG_NAMESPACE_END

#endif
