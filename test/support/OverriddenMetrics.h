// SPDX-License-Identifier: Apache-2.0
// ITK's metrics that this module overrides, as a program makes them that does not know the overrides. Includes only ITK's headers.
#ifndef OverriddenMetrics_h
#define OverriddenMetrics_h

#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkCorrelationImageToImageMetricv4.h"
#include "itkDemonsImageToImageMetricv4.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEuler3DTransform.h"
#include "itkJointHistogramMutualInformationImageToImageMetricv4.h"
#include "itkMattesMutualInformationImageToImageMetricv4.h"
#include "itkMeanSquaresImageToImageMetricv4.h"

#include <string>
#include <typeinfo>

namespace gpuregtest
{
namespace overridden
{
using ImageType = itk::Image<float, 3>;

/** A metric of images of floats with an internal type: that of its transforms, value and derivative. */
template <typename TInternal, unsigned int VDimension>
using MetricOf = itk::ImageToImageMetricv4<itk::Image<float, VDimension>,
                                           itk::Image<float, VDimension>,
                                           itk::Image<float, VDimension>,
                                           TInternal>;
using MetricType = MetricOf<double, 3>;
using TransformType = itk::Transform<double, 3, 3>;

enum class Kind
{
  MeanSquares,
  Correlation,
  JointHistogram,
  Mattes,
  Demons,
  NeighborhoodCorrelation
};

/** All kinds; for their transforms see MakeTransformFor. */
constexpr Kind AllKinds[] = { Kind::MeanSquares, Kind::Correlation, Kind::JointHistogram,
                              Kind::Mattes,      Kind::Demons,      Kind::NeighborhoodCorrelation };

inline const char *
GetName(Kind kind)
{
  switch (kind)
  {
    case Kind::MeanSquares:
      return "MeanSquares";
    case Kind::Correlation:
      return "Correlation";
    case Kind::JointHistogram:
      return "JointHistogram";
    case Kind::Demons:
      return "Demons";
    case Kind::NeighborhoodCorrelation:
      return "NeighborhoodCorrelation";
    default:
      return "Mattes";
  }
}

/** The kinds that take linear transforms. */
constexpr Kind ForLinear[] = {
  Kind::MeanSquares, Kind::Correlation, Kind::JointHistogram, Kind::Mattes, Kind::NeighborhoodCorrelation
};

/** Makes a metric of a kind by New(), as a program does. */
template <typename TInternal, unsigned int VDimension>
typename MetricOf<TInternal, VDimension>::Pointer
MakeMetricOf(Kind kind)
{
  using Image = itk::Image<float, VDimension>;
  switch (kind)
  {
    case Kind::MeanSquares:
      return itk::MeanSquaresImageToImageMetricv4<Image, Image, Image, TInternal>::New().GetPointer();
    case Kind::Correlation:
      return itk::CorrelationImageToImageMetricv4<Image, Image, Image, TInternal>::New().GetPointer();
    case Kind::JointHistogram:
      return itk::JointHistogramMutualInformationImageToImageMetricv4<Image, Image, Image, TInternal>::New()
        .GetPointer();
    case Kind::Demons:
      return itk::DemonsImageToImageMetricv4<Image, Image, Image, TInternal>::New().GetPointer();
    case Kind::NeighborhoodCorrelation:
      return itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<Image, Image, Image, TInternal>::New().GetPointer();
    default:
      return itk::MattesMutualInformationImageToImageMetricv4<Image, Image, Image, TInternal>::New().GetPointer();
  }
}

inline MetricType::Pointer
MakeMetric(Kind kind)
{
  return MakeMetricOf<double, 3>(kind);
}

template <typename TMetric>
bool
IsOurs(const TMetric & metric)
{
  return std::string(typeid(metric).name()).find("GPUOverride") != std::string::npos;
}

inline TransformType::Pointer
MakeRigid(double angle)
{
  const auto transform = itk::Euler3DTransform<double>::New();
  transform->SetRotation(angle, -0.02, 0.03);
  itk::Vector<double, 3> shift;
  shift.Fill(0.7);
  transform->SetTranslation(shift);
  return transform.GetPointer();
}

/** Returns a field of the same displacement everywhere, with a vector for each voxel. */
inline TransformType::Pointer
MakeField(const ImageType & image)
{
  using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
  const auto field = FieldTransformType::DisplacementFieldType::New();
  field->CopyInformation(&image);
  field->SetRegions(image.GetBufferedRegion());
  field->Allocate();
  itk::Vector<double, 3> shift;
  shift.Fill(0.4);
  field->FillBuffer(shift);
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform.GetPointer();
}

/** Returns a transform for a metric of a kind: a displacement field over the fixed image's voxels for demons, else a rigid one. */
inline TransformType::Pointer
MakeTransformFor(Kind kind, const ImageType & fixed)
{
  return kind == Kind::Demons ? MakeField(fixed) : MakeRigid(0.05);
}

/** Makes a metric of a kind, and initializes it with such a transform. */
inline MetricType::Pointer
MakeInitialized(Kind kind, ImageType * fixed, ImageType * moving)
{
  const auto metric = MakeMetric(kind);
  metric->SetFixedImage(fixed);
  metric->SetMovingImage(moving);
  metric->SetMovingTransform(MakeTransformFor(kind, *fixed));
  metric->Initialize();
  return metric;
}

} // namespace overridden
} // namespace gpuregtest

#endif
