// SPDX-License-Identifier: Apache-2.0
// Tests a global search of slices that are ten times as thick as their pixels are long: it finds poses in and out of the slices' plane.
#include "GlobalProblem.h"
#include "TestDevices.h"

#include <cmath>
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
// Relative to the slices' thickness.
constexpr double PixelLength = 0.1;

enum class Contrast
{
  Same,
  Another
};

enum class Angles
{
  All,
  OneAxis // all angles about the pose's axis, and 20 degrees about the others, which takes less time
};

/** A phantom moved by a rotation about an axis and a shift; with 12 degrees of freedom by scales and skews, too. */
struct Slices
{
  double       thickness; // mm
  unsigned int axis;
  double       degrees;
  double       bound; // of the mean distance from the truth, mm: at most 1.5 times that of record
  Angles       searched = Angles::OneAxis;
  Contrast     contrast = Contrast::Same;
  unsigned int degreesOfFreedom = 6;
};

class GlobalSlicesTest : public DeviceTest
{
protected:
  void
  ExpectFound(const Slices & slices) const;
};

/** Returns slices around a centre, up to a given distance in mm along each axis. Each voxel is the mean of the transformed phantom over
 *  the thickness of its slice. */
ImageType::Pointer
MakeSlices(const PointType &  centre,
           double             reach,
           double             thickness,
           const AffineType & toPhantom,
           Contrast           contrast = Contrast::Same)
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
      const double v = phantom(toPhantom.TransformPoint(at).GetVectorFromOrigin());
      sum += contrast == Contrast::Same ? v : 900.0 + 8.0 * v * std::exp(-v / 70.0);
    }
    return sum / parts;
  });
}

AffineType::Pointer
MakeTruth(const Slices & slices)
{
  VectorType about(0.0);
  about[slices.axis] = 1;
  // Shifted by part of a slice.
  VectorType shift(7.3);
  shift[2] = 3.7;
  const auto truth = AffineType::New();
  if (slices.degreesOfFreedom == 12)
  {
    truth->Shear(0, 1, 0.05);
    truth->Shear(1, 2, -0.04);
    VectorType scales;
    scales[0] = 1.08;
    scales[1] = 0.95;
    scales[2] = 1.04;
    truth->Scale(scales);
  }
  truth->Rotate3D(about, slices.degrees * Degrees);
  truth->Translate(shift);
  return truth;
}

void
GlobalSlicesTest::ExpectFound(const Slices & slices) const
{
  SCOPED_TRACE(std::to_string(slices.thickness) + " mm, " + std::to_string(slices.degrees) + " degrees about axis " +
               std::to_string(slices.axis));
  const PointType centre(VectorType(0.0));
  const auto      truth = MakeTruth(slices);
  const auto      inverse = AffineType::New();
  truth->GetInverse(inverse);
  const auto fixed = MakeSlices(centre, 64, slices.thickness, *AffineType::New());
  const auto method = GlobalMethodOf<3>::New();
  method->SetDevice(this->GetDevice());
  method->SetFixedImage(fixed);
  method->SetMovingImage(MakeSlices(truth->TransformPoint(centre), 76, slices.thickness, *inverse, slices.contrast));
  method->SetDegreesOfFreedom(slices.degreesOfFreedom);
  if (slices.searched == Angles::OneAxis)
  {
    method->SetSearchAngles(-20, 20);
    method->SetSearchAngles(slices.axis, -180, 180);
  }
  method->Update();
  const double error =
    ComputeMeanDistanceInPhantom<ImageType, GlobalMethodOf<3>::TransformType>(*fixed, *method->GetTransform(), *truth);
  EXPECT_LT(error, slices.bound);
  // The remaining distance is that of the smallest cost, not an error of the search: starting at the truth leads there, too.
  const double cost = method->GetFinalCost();
  method->SetInitialTransform(truth);
  method->SetSearchAngles(0, 0);
  method->Update();
  EXPECT_LT(cost, 1.01 * method->GetFinalCost());
}
} // namespace

/** Slices of 10 mm, ten of them in the phantom: accurate to a twentieth of their thickness (0.437 mm at most), also if the moving image's
 *  slices lie half-way between the fixed image's. */
TEST_P(GlobalSlicesTest, PosesInTheirPlane)
{
  this->ExpectFound({ 10, 2, 130, 1.5 * 0.263 });
}

TEST_P(GlobalSlicesTest, PosesOutOfTheirPlane)
{
  this->ExpectFound({ 10, 1, 30, 0.5 });
  this->ExpectFound({ 10, 0, 90, 1.5 * 0.105 });
}

/** Slices of 22 mm, four or five of them in the phantom: accurate to a fifth (1.65, 1.94 and 4.26 mm), since linear interpolation must
 *  guess the values between them. */
TEST_P(GlobalSlicesTest, PosesOfFewSlices)
{
  this->ExpectFound({ 22, 2, 130, 4.4, Angles::All });
}

TEST_P(GlobalSlicesTest, PosesOfFewSlicesOutOfTheirPlane)
{
  this->ExpectFound({ 22, 0, 30, 1.5 * 1.94 });
  this->ExpectFound({ 22, 1, 90, 1.5 * 1.66 });
}

/** Accurate to a tenth of their thickness (0.89 mm): the smallest correlation ratio is there. */
TEST_P(GlobalSlicesTest, AnotherContrast)
{
  this->ExpectFound({ 10, 1, 30, 1.0, Angles::OneAxis, Contrast::Another });
}

/** The error of record is 0.38 mm. */
TEST_P(GlobalSlicesTest, TwelveDegreesOfFreedom)
{
  this->ExpectFound({ 10, 1, 30, 0.5, Angles::OneAxis, Contrast::Another, 12 });
}

INSTANTIATE_TEST_SUITE_P(Devices, GlobalSlicesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
