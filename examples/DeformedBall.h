// SPDX-License-Identifier: Apache-2.0
// Images for the tests of free-form deformations.
#ifndef DeformedBall_h
#define DeformedBall_h

#include "DeformationError.h"
#include "KnownDeformation.h"
#include "Labels.h"
#include "WavyBall.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkImageRegionIteratorWithIndex.h"

namespace example
{

/** Returns labels of the ball's eight parts, each with a number; 0 outside. */
inline Labels::Pointer
MakeOctants(const Volume * ball)
{
  const auto labels = Labels::New();
  labels->CopyInformation(ball);
  labels->SetRegions(ball->GetBufferedRegion());
  labels->Allocate();
  for (itk::ImageRegionIteratorWithIndex<Labels> voxel(labels, labels->GetBufferedRegion()); !voxel.IsAtEnd(); ++voxel)
  {
    const auto point = labels->TransformIndexToPhysicalPoint<double>(voxel.GetIndex());
    const auto part = 1 + (point[0] > 47) + 2 * (point[1] > 49) + 4 * (point[2] > 44);
    voxel.Set(static_cast<short>(ball->GetPixel(voxel.GetIndex()) > 40 ? part : 0));
  }
  return labels;
}

/** The ball as the moving image, misaligned, and as the fixed one, deformed. */
struct DeformedBall
{
  DeformedBall()
  {
    const auto             ball = MakeWavyBall();
    itk::Vector<double, 3> axis;
    axis.Fill(1.0);
    itk::Vector<double, 3> shift;
    shift[0] = 4;
    shift[1] = -3;
    shift[2] = 2;
    Volume::PointType centre;
    centre[0] = 47;
    centre[1] = 49;
    centre[2] = 44;
    affine->SetCenter(centre);
    affine->Scale(1.04);
    affine->Rotate3D(axis, 0.12);
    affine->Translate(shift);
    const auto inverse = affine->GetInverseTransform();
    const auto deformation = MakeKnownDeformation(ball, DeformationKind::BSpline, 11, 6.0, 12.0).transform;
    const auto parts = MakeOctants(ball);
    fixed = MakeDeformedPair(ball, deformation).fixed;
    fixedParts = ResampleLabels(parts, ball, deformation);
    moving = Resample(ball, ball, inverse);
    movingParts = ResampleLabels(parts, ball, inverse);
    const auto composite = itk::CompositeTransform<double, 3>::New();
    composite->AddTransform(affine);
    composite->AddTransform(deformation); // applied first
    truth = composite.GetPointer();
  }

  double
  GetMeanError(const Transform * transform) const
  {
    return MeasureDeformationError(transform, truth, fixed, ComputeHeadThreshold(fixed)).head.mean;
  }

  itk::AffineTransform<double, 3>::Pointer affine = itk::AffineTransform<double, 3>::New();
  Volume::Pointer                          fixed;
  Volume::Pointer                          moving;
  Labels::Pointer                          fixedParts;
  Labels::Pointer                          movingParts;
  Transform::Pointer                       truth;
};

} // namespace example

#endif
