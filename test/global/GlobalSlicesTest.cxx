// SPDX-License-Identifier: Apache-2.0
// A global search of slices that are ten times as thick as their pixels are long: poses in and out of the slices' plane are found.
#include "GlobalProblem.h"
#include "TestDevices.h"

#include "itkImageRegionConstIteratorWithIndex.h"

#include <cstddef>
#include <string>

namespace gpuregtest
{

namespace
{
using ImageType = itk::Image<float, 3>;
using PointType = ImageType::PointType;
using VectorType = itk::Vector<double, 3>;
using AffineType = itk::AffineTransform<double, 3>;

constexpr double Degrees = Pi / 180;
// Of the slices' thickness.
constexpr double PixelLength = 0.1;

class GlobalSlicesTest : public DeviceTest
{
protected:
  /** What is moved by a rotation about an axis and a shift, searched for. \param bound of the mean distance from the truth, mm. */
  void
  ExpectFound(double thickness, unsigned int axis, double degrees, double bound) const;
};

/** Of something that reaches so far from a point to all sides, mm; each voxel the mean over its slice's thickness of what a phantom is
 *  where a transform takes it to. */
ImageType::Pointer
MakeSlices(const PointType & centre, double reach, double thickness, const AffineType & toPhantom)
{
  constexpr int    parts = 10;
  const Phantom<3> phantom;
  Grid<3>          grid;
  grid.spacing.Fill(PixelLength * thickness);
  grid.spacing[2] = thickness;
  for (unsigned int d = 0; d < 3; ++d)
  {
    grid.size[d] = static_cast<itk::SizeValueType>(2 * reach / grid.spacing[d]) + 1;
  }
  grid.SetCentre(centre);
  return MakeImage<ImageType>(grid, [&](const PointType & p) {
    double sum = 0;
    for (int part = 0; part < parts; ++part)
    {
      PointType at = p;
      at[2] += thickness * ((part + 0.5) / parts - 0.5);
      sum += phantom(toPhantom.TransformPoint(at).GetVectorFromOrigin());
    }
    return sum / parts;
  });
}

AffineType::Pointer
MakeTruth(unsigned int axis, double degrees)
{
  VectorType about(0.0);
  about[axis] = 1;
  // Between slices.
  VectorType shift(7.3);
  shift[2] = 3.7;
  const auto truth = AffineType::New();
  truth->Rotate3D(about, degrees * Degrees);
  truth->Translate(shift);
  return truth;
}

/** In the phantom. */
double
FindError(const ImageType & fixed, const AffineType & truth, const GlobalMethodOf<3>::TransformType & transform)
{
  double      sum = 0;
  std::size_t count = 0;
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(&fixed, fixed.GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    if (it.Get() > 20)
    {
      PointType point;
      fixed.TransformIndexToPhysicalPoint(it.GetIndex(), point);
      sum += transform.TransformPoint(point).EuclideanDistanceTo(truth.TransformPoint(point));
      ++count;
    }
  }
  return sum / static_cast<double>(count);
}

void
GlobalSlicesTest::ExpectFound(double thickness, unsigned int axis, double degrees, double bound) const
{
  SCOPED_TRACE(std::to_string(thickness) + " mm, " + std::to_string(degrees) + " degrees about axis " +
               std::to_string(axis));
  const PointType centre(VectorType(0.0));
  const auto      truth = MakeTruth(axis, degrees);
  const auto      inverse = AffineType::New();
  truth->GetInverse(inverse);
  const auto fixed = MakeSlices(centre, 64, thickness, *AffineType::New());
  const auto method = GlobalMethodOf<3>::New();
  method->SetDevice(this->GetDevice());
  method->SetFixedImage(fixed);
  method->SetMovingImage(MakeSlices(truth->TransformPoint(centre), 76, thickness, *inverse));
  method->SetDegreesOfFreedom(6);
  method->Update();
  EXPECT_LT(FindError(*fixed, *truth, *method->GetTransform()), bound);
  // What is left is where the cost is least, not what the search has missed: from the truth it leads there, too.
  const double cost = method->GetFinalCost();
  method->SetInitialTransform(truth);
  method->SetSearchAngles(0, 0);
  method->Update();
  EXPECT_LT(cost, 1.01 * method->GetFinalCost());
}
} // namespace

/** Slices of 10 mm, of which the phantom has ten: to a twentieth of their thickness (0.44 mm at most), also where the moving image's lie
 *  half-way between the fixed one's. Of 22 mm, of which it has four or five: to a quarter (1.6 to 4.3 mm), for linear interpolation makes up
 *  what is between them. */
TEST_P(GlobalSlicesTest, PosesInTheirPlane)
{
  this->ExpectFound(10, 2, 130, 0.5);
  this->ExpectFound(22, 2, 130, 5.5);
}

TEST_P(GlobalSlicesTest, PosesOutOfTheirPlane)
{
  this->ExpectFound(10, 1, 30, 0.5);
  this->ExpectFound(10, 0, 90, 0.5);
  this->ExpectFound(22, 0, 30, 5.5);
  this->ExpectFound(22, 1, 90, 5.5);
}

INSTANTIATE_TEST_SUITE_P(Devices, GlobalSlicesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
