// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FlatNeighborhoods_h
#define gpureg_FlatNeighborhoods_h

#include <limits>
#include <type_traits>

namespace gpureg
{

/** Says which neighborhoods are flat, with sFF and sMM their sums of squared differences from the mean: the correlation is 1 where sFF·sMM
 *  is at most epsilon, and the force is 0 where sFF or sMM is. What rounding leaves of a flat neighborhood has forces as great as those of
 *  any other one, and so one voxel of noise can set the length of a whole step. */
struct FlatNeighborhoods
{
  /** The default is what rounding leaves of 729 values of up to 1 that deviate by 1e-6. */
  double epsilon = 1e-9;
  /** True if epsilon refers to values scaled to magnitudes from ½ to 1; false: to the values as they are, as in ITK's class. */
  bool isOfScaledValues = true;
  /** True if an image's values are squared as floats, as ITK's class squares pixels that are floats. */
  bool fixedIsFloat = false;
  bool movingIsFloat = false;
};

inline bool
operator==(const FlatNeighborhoods & a, const FlatNeighborhoods & b)
{
  return a.epsilon == b.epsilon && a.isOfScaledValues == b.isOfScaledValues && a.fixedIsFloat == b.fixedIsFloat &&
         a.movingIsFloat == b.movingIsFloat;
}

/** Returns the rule of itk::ANTSNeighborhoodCorrelationImageToImageMetricv4.
 *  \tparam TFixedPixel, TMovingPixel the images' types of pixels
 *  \tparam TReal the type by which the class computes: its epsilon is 2⁻²³ for floats, and 2⁻⁵² for doubles */
template <typename TFixedPixel, typename TMovingPixel, typename TReal>
constexpr FlatNeighborhoods
GetFlatNeighborhoodsOfITK()
{
  return { static_cast<double>(std::numeric_limits<TReal>::epsilon()),
           false,
           std::is_same<TFixedPixel, float>::value,
           std::is_same<TMovingPixel, float>::value };
}

} // namespace gpureg

#endif
