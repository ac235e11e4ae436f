// SPDX-License-Identifier: Apache-2.0
// The value of the joint histogram's metric: the joint density, smoothed by a Gaussian along both axes, and its mutual
// information. In doubles, as ITK's are, and rounded alike by every compiler (RoundedProduct.h): a candidate's value is the same
// to the bit whether the host finds it or a device. So each sum has an order of its own, whoever adds: along a line of bins.
// Each step is told for one cell or line; between steps a device's group waits.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_JointHistogramDensity_h
#define gpureg_kernels_JointHistogramDensity_h

GPUREG_NAMESPACE_BEGIN

/** What a value depends on besides the counts. */
typedef struct JointDensityArguments
{
  double smoothing[MostSmoothingWeights]; /* the Gaussian's weights from its centre on */
  double least;                           /* see MutualInformationOfCell */
  int    smoothingRadius;
  int    swapsMarginals; /* the fixed bins' marginal is taken at the moving bins and the other way round */
} JointDensityArguments;

/** Step 1: a cell's density, of how many samples it has and how many there are. */
GPUREG_FUNCTION double
DensityOfCount(u64 count, u64 all)
{
  return all > 0 ? (double)count / (double)all : 0.0;
}

/** Steps 2 and 3: the density smoothed at one place of a line of bins, which are `stride` apart. It is smoothed along the
 *  moving bins first, and the result along the fixed ones. */
GPUREG_FUNCTION double
SmoothDensity(const JointDensityArguments * a, int bins, GPUREG_LOCAL const double * line, int stride, int place)
{
  double sum = RoundedProduct(a->smoothing[0], line[place * stride]);
  for (int r = 1; r <= a->smoothingRadius; ++r)
  {
    int before, behind;
    FindSmoothedBins(bins, place, r, &before, &behind);
    sum += RoundedProduct(a->smoothing[r], line[before * stride] + line[behind * stride]);
  }
  return sum;
}

/** The sum of a line of values, `stride` apart. */
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

/** Step 4: a marginal density: first those of the fixed bins, the rows, and then those of the moving ones. Not normalised
 *  again: what the Gaussian carries across an edge is lost, as it is to ITK. */
GPUREG_FUNCTION double
MarginalDensity(int bins, GPUREG_LOCAL const double * joint, int marginal)
{
  return marginal < bins ? SumLine(bins, joint + marginal * bins, 1) : SumLine(bins, joint + marginal - bins, bins);
}

/** Step 5: p ln(p/(p_f p_m)), a cell's part in the mutual information, where p_f p_m, and p by that, are above a least. */
GPUREG_FUNCTION double
MutualInformationOfCell(const JointDensityArguments * a,
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

/** Step 6: the mutual information in bits, from the sums over each fixed bin's cells. */
GPUREG_FUNCTION double
MutualInformationOfRows(int bins, GPUREG_LOCAL const double * ofRows)
{
  return SumLine(bins, ofRows, 1) / 0.6931471805599453;
}

GPUREG_NAMESPACE_END

#endif
