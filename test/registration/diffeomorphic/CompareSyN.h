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
    it.Set(static_cast<float>(image.GetPixel(it.GetIndex()) * (1 + Uniform(random, -ThisShare, ThisShare))));
  }
  return changed;
}

/** Returns how far ITK's result moves where both images change in their last digits. */
template <unsigned int VDimension>
SyNDistance
MoveITK(const SyNCase<VDimension> & its, const SyNResult & expected)
{
  Random      random(3);
  SyNDistance moved;
  for (int n = 0; n < 2; ++n)
  {
    SyNCase<VDimension> changed = its;
    changed.fixed = ChangeLastDigits(*its.fixed, random);
    changed.moving = ChangeLastDigits(*its.moving, random);
    const SyNDistance one = CompareResults(its, RegisterByITK(changed), expected);
    moved.mean = std::max(moved.mean, one.mean);
    moved.largest = std::max(moved.largest, one.largest);
    moved.ofCost = std::max(moved.ofCost, one.ofCost);
  }
  return moved;
}

/** Compares a result with ITK's: it is as near as Most says, or as Times says where ITK's own result hangs on the last digits. */
template <unsigned int VDimension>
void
Compare(const std::string & device, const SyNCase<VDimension> & its, const std::string & what)
{
  // One result of ITK serves all devices.
  static std::map<std::string, SyNResult> byITK;
  const std::string                       name = std::to_string(VDimension) + "D, " + what;
  if (byITK.count(name) == 0)
  {
    byITK[name] = RegisterByITK(its);
  }
  const SyNResult & expected = byITK[name];
  const SyNResult   found = RegisterOnDevice(device, its);
  ASSERT_EQ(found.costs.size(), expected.costs.size()) << name;
  for (std::size_t n = 0; n < std::size(AllFields); ++n)
  {
    ASSERT_EQ(found.fields[n].size(), expected.fields[n].size()) << name;
  }
  const SyNDistance distance = CompareResults(its, found, expected);
  SyNDistance       most = Most;
  if (distance.mean > most.mean || distance.largest > most.largest || distance.ofCost > most.ofCost)
  {
    const SyNDistance moved = MoveITK(its, expected);
    most.mean = std::max(most.mean, Times * moved.mean);
    most.largest = std::max(most.largest, Times * moved.largest);
    most.ofCost = std::max(most.ofCost, Times * moved.ofCost);
  }
  EXPECT_LE(distance.mean, most.mean) << name;
  EXPECT_LE(distance.largest, most.largest) << name;
  EXPECT_LE(distance.ofCost, most.ofCost) << name;
  if (std::getenv("GPUREG_TEST_PRINT") != nullptr)
  {
    std::cout << name << ": mean " << distance.mean << ", largest " << distance.largest << ", cost " << distance.ofCost
              << "; at most " << most.mean << ", " << most.largest << ", " << most.ofCost << '\n';
  }
}

} // namespace gpuregtest

#endif
