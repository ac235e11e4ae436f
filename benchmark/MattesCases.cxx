// SPDX-License-Identifier: Apache-2.0
#include "MattesCases.h"

#include "BrainPhantom.h"
#include "Head.h"
#include "HeadPhantom.h"

#include "itkBSplineInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>

namespace bench
{

template <unsigned int VDimension>
double
MattesCase<VDimension>::GetLeastTraffic(bool withDerivative) const
{
  const bool isField =
    transform->GetTransformCategory() == itk::TransformBaseTemplateEnums::TransformCategory::DisplacementField;
  const bool hasMask = movingMask.IsNotNull();
  const bool hasPoints = points.IsNotNull();
  const auto samples = static_cast<double>(hasPoints ? points->GetNumberOfPoints()
                                                     : fixed->GetLargestPossibleRegion().GetNumberOfPixels());
  const bool readsValueApart = hasMask || splineOrder > 1;
  const int  perPass = 2 + (hasMask ? 1 : 0) + (hasPoints ? 12 : 0) + (isField ? 12 : 0);
  const int  first = perPass + 4;
  const int  second = perPass + 16 + (readsValueApart ? 4 : 0) + (isField ? 12 : 0);
  return samples * (withDerivative ? first + second : first);
}

template <unsigned int VDimension>
typename itk::InterpolateImageFunction<itk::Image<float, VDimension>, double>::Pointer
MattesCase<VDimension>::MakeInterpolator() const
{
  const auto interpolator = itk::BSplineInterpolateImageFunction<ImageType, double>::New();
  interpolator->SetSplineOrder(splineOrder);
  return interpolator.GetPointer();
}

template <unsigned int VDimension>
typename itk::AffineTransform<double, VDimension>::Pointer
MakeMotion(double amount)
{
  using TransformType = itk::AffineTransform<double, VDimension>;
  const auto                               motion = TransformType::New();
  typename TransformType::OutputVectorType shift;
  const double                             shifts[] = { 2.5, -1.8, 1.2 };
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    shift[d] = amount * shifts[d];
  }
  motion->Scale(1 + 0.02 * amount);
  motion->Rotate(0, 1, 0.06 * amount);
  motion->Translate(shift);
  return motion;
}

namespace
{

template <unsigned int VDimension>
int
GetPercentageOfZeros(const itk::Image<float, VDimension> & image)
{
  const auto          count = image.GetBufferedRegion().GetNumberOfPixels();
  const float * const values = image.GetBufferPointer();
  return static_cast<int>(100 * std::count(values, values + count, 0.0f) / static_cast<std::ptrdiff_t>(count));
}

} // namespace

template <unsigned int VDimension>
MattesCase<VDimension>
MakeHeadCase(const itk::Size<VDimension> & size, bool stripped)
{
  MattesCase<VDimension> result;
  HeadScan<VDimension>   scan;
  scan.size = size;
  scan.stripped = stripped;
  scan.contrast = Contrast::T2;
  scan.seed = 1;
  result.fixed = MakeHead(scan);
  const auto back = MakeMotion<VDimension>(1)->GetInverseTransform();
  scan.contrast = Contrast::T1;
  scan.seed = 2;
  scan.toRest = [back](const auto & point) { return back->TransformPoint(point); };
  result.moving = MakeHead(scan);
  result.transform = MakeMotion<VDimension>(0.6);
  result.description = std::to_string(GetPercentageOfZeros(*result.fixed)) + "% and " +
                       std::to_string(GetPercentageOfZeros(*result.moving)) + "% of voxels 0, " +
                       (stripped ? "skull-stripped heads" : "noisy heads");
  return result;
}

MattesCase<3>
MakeFileCase(const std::string & fileName)
{
  MattesCase<3> result;
  result.fixed = example::ReadVolume(fileName);
  const auto truth = example::MakeTruth(example::GetCentre(example::FindHead(result.fixed)), 1);
  result.moving = example::MakeMovingImage(result.fixed, truth, 1);
  // Not at the truth, where the derivative is nearly 0, so that relative differences mean nothing.
  const auto                                        transform = truth->Clone();
  itk::AffineTransform<double, 3>::OutputVectorType aside;
  aside.Fill(1.0);
  transform->Translate(aside);
  result.transform = transform;
  result.description = fileName + " and the same in another contrast, moved";
  return result;
}

template <unsigned int VDimension>
typename MattesCase<VDimension>::PointSetType::Pointer
MakePoints(const itk::Image<float, VDimension> & image, itk::SizeValueType count)
{
  using PointSetType = typename MattesCase<VDimension>::PointSetType;
  const auto points = PointSetType::New();
  const auto voxels = image.GetLargestPossibleRegion().GetNumberOfPixels();
  for (itk::SizeValueType n = 0; n < count; ++n)
  {
    typename PointSetType::PointType point;
    image.TransformIndexToPhysicalPoint(image.ComputeIndex(static_cast<itk::OffsetValueType>(n * voxels / count)),
                                        point);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      point[d] += 0.1 * GetNormalNoise(4, VDimension * n + d);
    }
    points->SetPoint(n, point);
  }
  return points;
}

template <unsigned int VDimension>
typename MattesCase<VDimension>::MaskType::Pointer
MakeMask(const itk::Image<float, VDimension> & image)
{
  using MaskImageType = typename MattesCase<VDimension>::MaskType::ImageType;
  const auto maskImage = MaskImageType::New();
  maskImage->CopyInformation(&image);
  maskImage->SetRegions(image.GetLargestPossibleRegion());
  maskImage->Allocate();
  for (itk::ImageRegionIteratorWithIndex<MaskImageType> it(maskImage, maskImage->GetLargestPossibleRegion());
       !it.IsAtEnd();
       ++it)
  {
    typename MaskImageType::PointType point;
    maskImage->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    double radius = 0;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const double p = point[d] / (HalfAxes[d] * static_cast<double>(image.GetLargestPossibleRegion().GetSize(d)));
      radius += p * p;
    }
    it.Set(radius < 1 ? 1 : 0);
  }
  const auto mask = MattesCase<VDimension>::MaskType::New();
  mask->SetImage(maskImage);
  mask->Update();
  return mask;
}

template <unsigned int VDimension>
typename itk::DisplacementFieldTransform<double, VDimension>::Pointer
MakeField(const itk::Image<float, VDimension> & image)
{
  using TransformType = itk::DisplacementFieldTransform<double, VDimension>;
  using FieldType = typename TransformType::DisplacementFieldType;
  const auto field = FieldType::New();
  field->CopyInformation(&image);
  field->SetRegions(image.GetLargestPossibleRegion());
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetLargestPossibleRegion()); !it.IsAtEnd(); ++it)
  {
    typename FieldType::PointType point;
    field->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    typename FieldType::PixelType displacement;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      displacement[d] = 2 * std::sin(0.05 * point[d]) + std::cos(0.04 * point[(d + 1) % VDimension] + 0.3 * d);
    }
    it.Set(displacement);
  }
  const auto transform = TransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

template struct MattesCase<2>;
template struct MattesCase<3>;
template itk::AffineTransform<double, 3>::Pointer
MakeMotion<3>(double);
template MattesCase<2>
MakeHeadCase<2>(const itk::Size<2> &, bool);
template MattesCase<3>
MakeHeadCase<3>(const itk::Size<3> &, bool);
template MattesCase<3>::PointSetType::Pointer
MakePoints<3>(const itk::Image<float, 3> &, itk::SizeValueType);
template MattesCase<3>::MaskType::Pointer
MakeMask<3>(const itk::Image<float, 3> &);
template itk::DisplacementFieldTransform<double, 3>::Pointer
MakeField<3>(const itk::Image<float, 3> &);

} // namespace bench
