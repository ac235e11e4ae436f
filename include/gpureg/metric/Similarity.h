// SPDX-License-Identifier: Apache-2.0
// Describes each similarity of two images once: the metrics, the registration methods, ITK's classes and Python derive from this table.
#ifndef gpureg_Similarity_h
#define gpureg_Similarity_h

#include "GPURegistrationExport.h"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>

namespace gpureg
{

/** Similarities of two images. */
enum class SimilarityKind : std::uint8_t
{
  /** Mean of (f - m)² of values from 0 to 1, for images of one scanner and scale. */
  MeanSquares,
  /** Mean of |f - m| of values from 0 to 1, for images of one scanner and scale. */
  MeanAbsoluteDifferences,
  /** Square of Pearson's correlation, for images of one contrast, whatever their scale. */
  Correlation,
  /** 1 - η of the moving values given the fixed bins (Roche 1998; Li 2015), for images of different contrasts of which the moving one has
   *  less noise. */
  CorrelationRatio,
  /** Mutual information of a joint histogram with Parzen windows, for images of different contrasts. */
  MattesMutualInformation,
  /** (H_f + H_m)/H_fm of the joint histogram of Mattes' mutual information, for images of different contrasts. */
  NormalizedMutualInformation,
  /** Mutual information in bits of a smoothed joint histogram of nearest bins. */
  JointHistogramMutualInformation,
  /** Mutual information of a joint histogram by partial volume (Maes 1997). */
  PartialVolumeMutualInformation,
  /** Mean of the squared correlation over the neighborhoods of all voxels (Avants 2008), for images of one contrast with shading. */
  NeighborhoodCorrelation,
  /** Mean of (f - m)² of values from 0 to 1, with forces (f - m)∇/((f - m)²/K + |∇|²) for displacement fields (Thirion 1998), where K is
   *  the mean squared edge of a voxel. For images of one scanner and scale. */
  Demons
};

/** Forms in which a similarity reads the images' values. */
enum class ValueForm : std::uint8_t
{
  /** In one unit for both images, from their smallest value to their largest one. */
  OneUnit,
  /** Relative to each image's mean, each image in its own unit. */
  AboutMeans,
  /** In double precision, relative to 0, each image in its own unit. */
  OfNeighborhoods,
  /** The fixed values in bins, the moving ones from 0 to 1. */
  FixedBins,
  /** Both images' values in bins of a joint histogram, with Parzen windows, as nearest bins, or by partial volume. */
  ParzenBins,
  NearestBins,
  PartialVolumeBins
};

/** Holds a range of numbers of bins, and the number that is used for linear maps by default. All are 0 for a similarity without bins. */
struct BinNumbers
{
  int least = 0;
  int most = 0;
  int usual = 0;
};

/** Describes a similarity. */
struct SimilarityDescription
{
  SimilarityKind kind;
  /** Enumerator's name. */
  const char * name;
  /** Words for messages, such as "a correlation ratio". */
  const char * phrase;
  ValueForm    values;
  BinNumbers   bins;
  /** 1 if similar images have a small value, -1 if a large one. The cost is the sign times the value. */
  int sign;
  /** Unit of forces: a sample adds this factor times its force to the cost's derivative, in the unit of an evaluation's sums. 0: there
   *  is no derivative. */
  double forceFactor;
  /** Cost of unrelated images; not a number if it depends on their values. */
  double unrelatedCost;
  /** True if global searches, free-form deformations, or displacement fields, by any scheme, may use the similarity. */
  bool isForGlobal;
  bool isForFreeForm;
  bool isForFields;

  constexpr bool
  HasBins() const
  {
    return bins.most > 0;
  }

  constexpr bool
  HasJointHistogram() const
  {
    return this->HasBins() && values != ValueForm::FixedBins;
  }

  /** Returns true if the similarity has neighborhoods: it has a radius, needs every voxel of the fixed image, and its forces are
   *  derivatives by points. Forces of the others are derivatives by the moving image's index. */
  constexpr bool
  HasNeighborhoods() const
  {
    return values == ValueForm::OfNeighborhoods;
  }
};

/** Describes all similarities, in the order of the enumeration. */
// clang-format off
inline constexpr SimilarityDescription Similarities[] = {
  // Columns: kind, name, phrase, values, bins, sign, force factor, cost of unrelated images; true if it may be used for global searches,
  // free-form deformations, fields.
  { SimilarityKind::MeanSquares, "MeanSquares", "mean squares",
    ValueForm::OneUnit, {}, 1, -2, std::numeric_limits<double>::quiet_NaN(), true, true, true },
  { SimilarityKind::MeanAbsoluteDifferences, "MeanAbsoluteDifferences", "mean absolute differences",
    ValueForm::OneUnit, {}, 1, -1, std::numeric_limits<double>::quiet_NaN(), true, false, false },
  { SimilarityKind::Correlation, "Correlation", "a correlation",
    ValueForm::AboutMeans, {}, -1, -1, 0, true, true, true },
  { SimilarityKind::CorrelationRatio, "CorrelationRatio", "a correlation ratio",
    ValueForm::FixedBins, { 2, 4096, 256 }, 1, 2, 1, true, true, true },
  { SimilarityKind::MattesMutualInformation, "MattesMutualInformation", "mutual information",
    ValueForm::ParzenBins, { 5, 4096, 64 }, -1, 1, 0, true, true, true },
  { SimilarityKind::NormalizedMutualInformation, "NormalizedMutualInformation", "mutual information",
    ValueForm::ParzenBins, { 5, 4096, 64 }, -1, 1, -1, true, true, true },
  { SimilarityKind::JointHistogramMutualInformation, "JointHistogramMutualInformation", "a joint histogram of nearest bins",
    ValueForm::NearestBins, { 6, 1024, 64 }, -1, 0, 0, false, false, false },
  { SimilarityKind::PartialVolumeMutualInformation, "PartialVolumeMutualInformation", "a joint histogram by partial volume",
    ValueForm::PartialVolumeBins, { 2, 256, 64 }, -1, -1, 0, false, false, false },
  { SimilarityKind::NeighborhoodCorrelation, "NeighborhoodCorrelation", "a correlation over neighborhoods",
    ValueForm::OfNeighborhoods, {}, -1, -1, 0, true, true, true },
  { SimilarityKind::Demons, "Demons", "demons",
    ValueForm::OneUnit, {}, 1, -1, std::numeric_limits<double>::quiet_NaN(), false, false, true }
};
// clang-format on

/** Returns the description of a similarity; kind must be an enumerator, which GetName() checks. */
constexpr const SimilarityDescription &
Describe(SimilarityKind kind)
{
  return Similarities[static_cast<std::size_t>(kind)];
}

/** Holds a similarity with its settings. */
struct SimilaritySettings
{
  SimilarityKind kind = SimilarityKind::MeanSquares;
  /** Number of bins, for a similarity that has bins. */
  int bins = 0;
  /** Radius of a neighborhood in voxels along each axis, for a similarity that has neighborhoods. */
  int radius = 4;
};

inline bool
operator==(const SimilaritySettings & a, const SimilaritySettings & b)
{
  return a.kind == b.kind && a.bins == b.bins && a.radius == b.radius;
}

/** Returns a name, such as "MeanSquares".
 *  \throws BadInputError if the value is not in the enumeration. */
GPURegistration_EXPORT
const char *
GetName(SimilarityKind kind);

GPURegistration_EXPORT
std::ostream &
operator<<(std::ostream & out, SimilarityKind kind);

} // namespace gpureg

#endif
