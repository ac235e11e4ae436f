// SPDX-License-Identifier: Apache-2.0
// The value of the joint histogram's metric: the joint density, smoothed by a Gaussian along both axes, and its mutual information. In
// double precision, as ITK computes it, and rounded identically by every compiler (RoundedProduct.h): a candidate's value is the same to
// the bit on the host and on a device. So each sum is taken in a fixed order, along a line of bins. Each function computes one entry or
// line of a step; between steps, a device's group waits at a barrier.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_JointHistogramDensity_h
#define gpureg_kernels_JointHistogramDensity_h

GPUREG_NAMESPACE_BEGIN

/** Arguments of the value besides the counts. */
typedef struct JointDensityArguments
{
  double smoothing[MostSmoothingWeights]; /* the Gaussian's weights from its centre on */
  double least;                           /* see MutualInformationOfEntry */
  int    smoothingRadius;
  int    swapsMarginals; /* true if the fixed bins' marginal is used for the moving bins, and vice versa */
} JointDensityArguments;

/** Step 1: returns the density of an entry with `count` of `all` samples. */
GPUREG_FUNCTION double
DensityOfCount(u64 count, u64 all)
{
  return all > 0 ? (double)count / (double)all : 0.0;
}

/** Steps 2 and 3: returns the smoothed density at one place of a line of bins, which are `stride` apart. The density is smoothed along
 *  the moving bins first, and the result along the fixed bins. */
GPUREG_FUNCTION double
SmoothDensity(const JointDensityArguments * a, int bins, GPUREG_LOCAL const double * line, int stride, int place)
{
  double sum = RoundedProduct(a->smoothing[0], line[place * stride]);
  for (int r = 1; r <= a->smoothingRadius; ++r)
  {
    int before, behind;
    ComputeSmoothedBins(bins, place, r, &before, &behind);
    sum += RoundedProduct(a->smoothing[r], line[before * stride] + line[behind * stride]);
  }
  return sum;
}

/** Returns the sum of a line of values, `stride` apart. */
GPUREG_FUNCTION double
SumLine(int bins, GPUREG_LOCAL const double * line, int stride)
{
  double sum = 0.0;
  for (int place = 0; place < bins; ++place)
  {
    sum += line[place * stride];
  }
  return sum;
}

/** Step 4: returns a marginal density; those of the fixed bins (rows) are numbered first, then those of the moving bins. It is not
 *  normalized again: the density that the Gaussian carries across an edge is lost, as in ITK. */
GPUREG_FUNCTION double
MarginalDensity(int bins, GPUREG_LOCAL const double * joint, int marginal)
{
  return marginal < bins ? SumLine(bins, joint + marginal * bins, 1) : SumLine(bins, joint + marginal - bins, bins);
}

/** Step 5: returns p ln(p/(p_f p_m)), an entry's term of the mutual information; 0 unless p_f p_m, and p by that, exceed a threshold. */
GPUREG_FUNCTION double
MutualInformationOfEntry(const JointDensityArguments * a,
                         int                           bins,
                         GPUREG_LOCAL const double *   joint,
                         GPUREG_LOCAL const double *   marginals,
                         int                           row,
                         int                           column)
{
  const int    ofRows = a->swapsMarginals ? bins : 0;
  const double p = joint[row * bins + column];
  const double apart = RoundedProduct(marginals[ofRows + row], marginals[bins - ofRows + column]);
  const double ratio = apart > a->least ? p / apart : 0.0;
  return ratio > a->least ? RoundedProduct(p, RoundedLogOf(ratio)) : 0.0;
}

/** Step 6: returns the mutual information in bits, from the sums over the entries of each fixed bin. */
GPUREG_FUNCTION double
MutualInformationOfRows(int bins, GPUREG_LOCAL const double * ofRows)
{
  return SumLine(bins, ofRows, 1) / 0.6931471805599453;
}

GPUREG_NAMESPACE_END

#endif
