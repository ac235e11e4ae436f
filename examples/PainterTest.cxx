// SPDX-License-Identifier: Apache-2.0
// Tests the demo's pictures of a known deformation.
#include "Checkerboard.h"
#include "DeformedGrid.h"
#include "JacobianMap.h"

#include "itkAffineTransform.h"

#include <gtest/gtest.h>

#include <cmath>

namespace
{

using namespace example;

/** Returns an image of 100 everywhere, the largest brightness. */
Volume::Pointer
MakeBrightImage()
{
  const auto image = Volume::New();
  image->SetRegions(Volume::SizeType{ { 60, 60, 60 } });
  image->Allocate();
  image->FillBuffer(100);
  return image;
}

itk::AffineTransform<double, 3>::Pointer
MakeScaling(double x, double y, double z)
{
  itk::Vector<double, 3> factors;
  factors[0] = x;
  factors[1] = y;
  factors[2] = z;
  const auto scaling = itk::AffineTransform<double, 3>::New();
  scaling->Scale(factors);
  return scaling;
}

Volume::PointType
MakePoint(double x, double y, double z)
{
  Volume::PointType point;
  point[0] = x;
  point[1] = y;
  point[2] = z;
  return point;
}

constexpr Plane axial{ "AXIAL", 0, 1, false };

void
ExpectNear(const Colour & a, const Colour & b)
{
  for (unsigned int c = 0; c < 3; ++c)
  {
    EXPECT_NEAR(a[c], b[c], 1e-6);
  }
}

TEST(Painter, TheJacobiansColourIsThatOfTheScale)
{
  const auto image = MakeBrightImage();
  const auto point = MakePoint(20, 30, 25);
  const auto colour = JacobianScale().colour;
  ExpectNear(PaintJacobian(image, MakeScaling(1, 1, 1))(point, axial), colour(0.5));
  ExpectNear(PaintJacobian(image, MakeScaling(2, 0.5, std::sqrt(2.0)))(point, axial), colour(0.75));
  ExpectNear(PaintJacobian(image, MakeScaling(0.8, 0.5, 1.25))(point, axial), colour(0.0));
  ExpectNear(PaintJacobian(image, MakeScaling(3, 1, 1))(point, axial), colour(1.0));
  // Where it folds, the colour is not one of the scale.
  ExpectNear(PaintJacobian(image, MakeScaling(-1, 1, 1))(point, axial), { 0.1, 1.0, 0.1 });
}

/** Lines along x and y where the deformation leads to multiples of 10 mm, of the usual width. */
TEST(Painter, TheGridIsWhereTheDeformationLeads)
{
  const auto   image = MakeBrightImage();
  const auto   painter = PaintDeformedGrid(image, MakeScaling(1.25, 0.5, 3));
  const Colour line{ 1.0, 0.78, 0.25 };
  const Colour between{ 0.6, 0.6, 0.6 };
  ExpectNear(painter(MakePoint(16, 7, 25), axial), line);     // x to 20
  ExpectNear(painter(MakePoint(13, 20, 25), axial), line);    // y to 10
  ExpectNear(painter(MakePoint(10, 7, 25), axial), between);  // x to 12.5
  ExpectNear(painter(MakePoint(13, 7, 25), axial), between);  // z to 75, x and y to none
  ExpectNear(painter(MakePoint(13, 10, 10), axial), between); // z to 30: not an axis of this plane
  ExpectNear(painter(MakePoint(16.65, 7, 25), axial),
             between); // 0.65 mm from the line, which ends at 0.6 mm
  ExpectNear(painter(MakePoint(13, 20.65, 25), axial), between);
  ExpectNear(painter(MakePoint(16.05, 7, 25), axial), line);
  ExpectNear(painter(MakePoint(13, 20.05, 25), axial), line);
}

TEST(Painter, SquaresTakeTurns)
{
  const auto   fixed = MakeBrightImage();
  const auto   moving = MakeBrightImage();
  const auto   painter = PaintCheckerboard(fixed, moving);
  const Colour grey{ 1.0, 1.0, 1.0 };
  const Colour warm{ 1.0, 0.84, 0.60 };
  ExpectNear(painter(MakePoint(10, 10, 10), axial), grey);
  ExpectNear(painter(MakePoint(30, 10, 10), axial), warm);
  ExpectNear(painter(MakePoint(10, 30, 10), axial), warm);
  ExpectNear(painter(MakePoint(30, 30, 10), axial), grey);
}

} // namespace
