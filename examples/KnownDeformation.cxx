// SPDX-License-Identifier: Apache-2.0
#include "KnownDeformation.h"

#include "DisplacementField.h"
#include "Head.h"
#include "RandomDirection.h"

#include "itkBSplineTransform.h"
#include "itkThinPlateSplineKernelTransform.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <stdexcept>
#include <string>
#include <vector>

namespace example
{
namespace
{

constexpr double       controlPointDistance = 45.0; // mm
constexpr unsigned int landmarkCount = 45;
constexpr double       leastDeterminant = 0.1;
constexpr unsigned int mostSeeds = 30;

/** A random deformation whose displacements can be scaled. */
class RandomSpline
{
public:
  RandomSpline(const Volume * image, Random * random)
  {
    // It extends to the outer edges of the image's voxels.
    const auto &                    region = image->GetLargestPossibleRegion();
    itk::ContinuousIndex<double, 3> corner;
    Spline::PhysicalDimensionsType  extent;
    Spline::MeshSizeType            mesh;
    for (unsigned int d = 0; d < 3; ++d)
    {
      corner[d] = static_cast<double>(region.GetIndex(d)) - 0.5;
      extent[d] = static_cast<double>(region.GetSize(d)) * image->GetSpacing()[d];
      mesh[d] = static_cast<itk::SizeValueType>(std::max(1.0, std::round(extent[d] / controlPointDistance)));
    }
    m_Spline->SetTransformDomainOrigin(image->TransformContinuousIndexToPhysicalPoint<double, double>(corner));
    m_Spline->SetTransformDomainPhysicalDimensions(extent);
    m_Spline->SetTransformDomainDirection(image->GetDirection());
    m_Spline->SetTransformDomainMeshSize(mesh);
    // The coefficients of x, then of y, then of z.
    const unsigned int controlPoints = m_Spline->GetNumberOfParametersPerDimension();
    m_Coefficients.SetSize(m_Spline->GetNumberOfParameters());
    for (unsigned int n = 0; n < controlPoints; ++n)
    {
      // All have the same length: with normally distributed lengths, the few longest would reach the maximum while the mean is far below
      // the one requested.
      const auto direction = DrawDirection(random);
      for (unsigned int d = 0; d < 3; ++d)
      {
        m_Coefficients[n + d * controlPoints] = direction[d];
      }
    }
  }

  Transform::Pointer
  Scale(double factor)
  {
    Spline::ParametersType scaled = m_Coefficients;
    scaled *= factor;
    m_Spline->SetParametersByValue(scaled);
    return m_Spline.GetPointer();
  }

private:
  using Spline = itk::BSplineTransform<double, 3, 3>;

  Spline::Pointer        m_Spline = Spline::New();
  Spline::ParametersType m_Coefficients;
};

class RandomThinPlate
{
public:
  RandomThinPlate(const Volume * image, Random * random)
    : m_Landmarks(DrawLandmarks(image, random))
  {
    for (unsigned int n = 0; n < m_Landmarks.size(); ++n)
    {
      m_Displacements.push_back(DrawDirection(random));
    }
  }

  Transform::Pointer
  Scale(double factor) const
  {
    const auto sources = ThinPlate::PointSetType::New();
    const auto targets = ThinPlate::PointSetType::New();
    for (unsigned int n = 0; n < m_Landmarks.size(); ++n)
    {
      sources->SetPoint(n, m_Landmarks[n]);
      targets->SetPoint(n, m_Landmarks[n] + factor * m_Displacements[n]);
    }
    const auto thinPlate = ThinPlate::New();
    thinPlate->SetSourceLandmarks(sources);
    thinPlate->SetTargetLandmarks(targets);
    thinPlate->ComputeWMatrix();
    return thinPlate.GetPointer();
  }

private:
  using ThinPlate = itk::ThinPlateSplineKernelTransform<double, 3>;

  /** Returns landmarks in the head, not too near to each other: neighbours that move apart would fold the space between them. */
  static std::vector<Volume::PointType>
  DrawLandmarks(const Volume * image, Random * random)
  {
    const auto   head = FindHead(image);
    const auto & spacing = image->GetSpacing();
    const double share = static_cast<double>(head.size()) * spacing[0] * spacing[1] * spacing[2] / landmarkCount;
    // The distance decreases, for a head that has no room for so many landmarks.
    double                         distance = 0.7 * std::cbrt(share);
    std::vector<Volume::PointType> landmarks;
    while (landmarks.size() < landmarkCount)
    {
      const auto & point = head[random->GetIntegerVariate(static_cast<std::uint32_t>(head.size() - 1))];
      const bool   isFree = std::none_of(landmarks.begin(), landmarks.end(), [&](const Volume::PointType & other) {
        return point.EuclideanDistanceTo(other) < distance;
      });
      if (isFree)
      {
        landmarks.push_back(point);
      }
      else
      {
        distance *= 0.999;
      }
    }
    return landmarks;
  }

  std::vector<Volume::PointType>      m_Landmarks;
  std::vector<itk::Vector<double, 3>> m_Displacements;
};

/** Makes a deformation whose displacements are linear in the random numbers, so that it is sampled once, and then scaled. */
template <typename TRandomDeformation>
KnownDeformation
Draw(const Volume * image, std::uint32_t seed, double meanDisplacement, double maximum)
{
  const auto random = Random::New();
  random->Initialize(seed);
  TRandomDeformation deformation(image, random);
  const auto         field = SampleDisplacements(deformation.Scale(1.0), image);

  const float * const values = image->GetBufferPointer();
  const auto * const  vectors = field->GetBufferPointer();
  const auto          count = image->GetBufferedRegion().GetNumberOfPixels();
  double              sum = 0;
  double              largest = 0;
  itk::SizeValueType  voxels = 0;
  for (itk::SizeValueType n = 0; n < count; ++n)
  {
    if (values[n] != 0)
    {
      const double length = vectors[n].GetNorm();
      sum += length;
      largest = std::max(largest, length);
      ++voxels;
    }
  }
  if (voxels == 0)
  {
    throw std::runtime_error("There is nothing to deform: all voxels of the image are 0.");
  }
  const double     mean = sum / static_cast<double>(voxels);
  const double     factor = std::min(meanDisplacement / mean, maximum / largest);
  KnownDeformation known;
  known.transform = deformation.Scale(factor);
  known.seed = seed;
  known.meanDisplacement = factor * mean;
  known.largestDisplacement = factor * largest;
  known.smallestDeterminant = MeasureJacobian(field, factor).smallest;
  return known;
}

} // namespace

KnownDeformation
MakeKnownDeformation(
  const Volume * image, DeformationKind kind, std::uint32_t seed, double meanDisplacement, double maximum)
{
  for (unsigned int n = 0; n < mostSeeds; ++n)
  {
    const auto known = kind == DeformationKind::BSpline
                         ? Draw<RandomSpline>(image, seed + n, meanDisplacement, maximum)
                         : Draw<RandomThinPlate>(image, seed + n, meanDisplacement, maximum);
    if (known.smallestDeterminant > leastDeterminant)
    {
      return known;
    }
  }
  throw std::runtime_error("None of " + std::to_string(mostSeeds) +
                           " seeds gave a deformation that does not fold. Ask for a smaller displacement.");
}

std::ostream &
operator<<(std::ostream & os, const KnownDeformation & deformation)
{
  return os << "seed " << deformation.seed << ", displacement " << std::fixed << std::setprecision(3) << "mean "
            << deformation.meanDisplacement << " mm, maximum " << deformation.largestDisplacement
            << " mm, smallest determinant " << deformation.smallestDeterminant;
}

DeformedPair
MakeDeformedPair(const Volume * moving, const Transform * deformation)
{
  return { Resample(moving, moving, deformation), moving, deformation };
}

} // namespace example
