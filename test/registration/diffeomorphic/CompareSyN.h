// SPDX-License-Identifier: Apache-2.0
// Compares the engine's SyN with itk::SyNImageRegistrationMethod: all fields, and the metric's values, after some iterations.
#ifndef CompareSyN_h
#define CompareSyN_h

#include "RegisterSyN.h"
#include "SyNCase.h"

#include "itkImageRegionIteratorWithIndex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <string>

namespace gpuregtest
{

/** Voxels, and a share of the cost, by which ours may be away from ITK's. */
inline constexpr SyNDistance Most{ 1e-4, 1e-3, 1e-5 };
// As often as ITK itself moves where its input changes by ThisShare of itself.
inline constexpr double Times = 3;
inline constexpr double ThisShare = 1e-7;

/** Returns an image whose values differ in their last digits. */
template <typename TImage>
typename TImage::Pointer
ChangeLastDigits(const TImage & image, Random & random)
{
  const auto changed = TImage::New();
  changed->CopyInformation(&image);
  changed->SetRegions(image.GetBufferedRegion());
  changed->Allocate();
  for (itk::ImageRegionIteratorWithIndex<TImage> it(changed, changed->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    it.Set(static_cast<typename TImage::PixelType>(image.GetPixel(it.GetIndex()) *
                                                   (1 + Uniform(random, -ThisShare, ThisShare))));
  }
  return changed;
}

/** ITK's result, and how far it moves where both images change in their last digits. */
struct ResultOfITK
{
  SyNResult   result;
  Random      random{ 3 };
  int         draws = 0;
  SyNDistance moved; // the farthest of all draws
};

/** Changes both images once more, and adds how far ITK's result moves. */
template <unsigned int VDimension, typename TPixel>
void
MoveITK(const SyNCase<VDimension, TPixel> & its, ResultOfITK & itks)
{
  SyNCase<VDimension, TPixel> changed = its;
  changed.fixed = ChangeLastDigits(*its.fixed, itks.random);
  changed.moving = ChangeLastDigits(*its.moving, itks.random);
  const SyNDistance one = CompareResults(its, RegisterByITK(changed), itks.result);
  itks.moved.mean = std::max(itks.moved.mean, one.mean);
  itks.moved.largest = std::max(itks.moved.largest, one.largest);
  itks.moved.ofCost = std::max(itks.moved.ofCost, one.ofCost);
  ++itks.draws;
}

/** Returns how far a result may be from ITK's. */
inline SyNDistance
GetMost(const SyNDistance & moved)
{
  return { std::max(Most.mean, Times * moved.mean),
           std::max(Most.largest, Times * moved.largest),
           std::max(Most.ofCost, Times * moved.ofCost) };
}

inline bool
IsWithin(const SyNDistance & distance, const SyNDistance & most)
{
  return distance.mean <= most.mean && distance.largest <= most.largest && distance.ofCost <= most.ofCost;
}

/** Compares a result with ITK's: it is as near as Most says, or as Times says where ITK's own result hangs on the last digits.
 *  \param draws how often ITK's input changes at most */
template <unsigned int VDimension, typename TPixel>
void
Compare(const std::string & device, const SyNCase<VDimension, TPixel> & its, const std::string & what, int draws = 2)
{
  // One result of ITK serves all devices.
  static std::map<std::string, ResultOfITK> byITK;
  const std::string                         name = std::to_string(VDimension) + "D, " + what;
  if (byITK.count(name) == 0)
  {
    byITK[name].result = RegisterByITK(its);
  }
  ResultOfITK &     itks = byITK[name];
  const SyNResult & expected = itks.result;
  const SyNResult   found = RegisterOnDevice(device, its);
  ASSERT_EQ(found.costs.size(), expected.costs.size()) << name;
  for (std::size_t n = 0; n < std::size(AllFields); ++n)
  {
    ASSERT_EQ(found.fields[n].size(), expected.fields[n].size()) << name;
  }
  const SyNDistance distance = CompareResults(its, found, expected);
  while (!IsWithin(distance, GetMost(itks.moved)) && itks.draws < draws)
  {
    MoveITK(its, itks);
  }
  const SyNDistance most = GetMost(itks.moved);
  EXPECT_LE(distance.mean, most.mean) << name;
  EXPECT_LE(distance.largest, most.largest) << name;
  EXPECT_LE(distance.ofCost, most.ofCost) << name;
  if (std::getenv("GPUREG_TEST_PRINT") != nullptr)
  {
    std::cout << name << ": mean " << distance.mean << ", largest " << distance.largest << ", cost " << distance.ofCost
              << "; at most " << most.mean << ", " << most.largest << ", " << most.ofCost << " by " << itks.draws
              << " draws\n";
  }
}

} // namespace gpuregtest

#endif
