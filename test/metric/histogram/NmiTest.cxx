// SPDX-License-Identifier: Apache-2.0
// Compares normalized mutual information with its definition, computed in double precision without any of the product's code, and its
// derivative with differences of its value.
#include "Listening.h"
#include "MetricProblem.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"
#include "TestSplines.h"

#include "itkAffineTransform.h"
#include "itkDisplacementFieldTransform.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpuregtest
{

namespace
{
double
CubicBSpline(double x)
{
  const double a = std::abs(x);
  return a < 1.0 ? (4.0 - 6.0 * a * a + 3.0 * a * a * a) / 6.0 : (a < 2.0 ? std::pow(2.0 - a, 3) / 6.0 : 0.0);
}

double
CubicBSplineSlope(double x)
{
  const double a = std::abs(x);
  const double slope = a < 1.0 ? -2.0 * a + 1.5 * a * a : (a < 2.0 ? -0.5 * (2.0 - a) * (2.0 - a) : 0.0);
  return x < 0 ? -slope : slope;
}

/** A scalar image, interpolated linearly at continuous indices; the edge voxel is repeated outside. */
template <unsigned int VDimension>
class ReferenceImage
{
public:
  using ImageType = TestImage<float, VDimension>;
  using PointType = itk::Point<double, VDimension>;
  using VectorType = itk::Vector<double, VDimension>;

  explicit ReferenceImage(const ImageType & image)
    : m_Image(image)
  {
    const itk::Matrix<double, VDimension, VDimension> inverse(image.GetDirection().GetInverse());
    m_ToIndex = inverse;
    const auto * const buffer = image.GetBufferPointer();
    const auto         count = image.GetBufferedRegion().GetNumberOfPixels();
    minimum = *std::min_element(buffer, buffer + count);
    maximum = *std::max_element(buffer, buffer + count);
  }

  /** Returns the continuous index of a point, from the first voxel on. */
  VectorType
  GetIndex(const PointType & point) const
  {
    VectorType index = m_ToIndex * (point - m_Image.GetOrigin());
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      index[d] = index[d] / m_Image.GetSpacing()[d] - static_cast<double>(m_Image.GetBufferedRegion().GetIndex(d));
    }
    return index;
  }

  bool
  IsInside(const PointType & point) const
  {
    const VectorType index = GetIndex(point);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      if (!(index[d] >= -0.5 && index[d] < static_cast<double>(GetSize(d)) - 0.5))
      {
        return false;
      }
    }
    return true;
  }

  double
  Evaluate(const PointType & point) const
  {
    const VectorType index = GetIndex(point);
    double           sum = 0;
    for (unsigned int corner = 0; corner < (1u << VDimension); ++corner)
    {
      double      weight = 1;
      std::size_t offset = 0, stride = 1;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        const double last = static_cast<double>(GetSize(d)) - 1.0;
        const double x = std::min(std::max(index[d], 0.0), last);
        const double below = std::min(std::floor(x), std::max(last - 1.0, 0.0));
        const bool   upper = (corner >> d) & 1u;
        weight *= upper ? x - below : 1.0 - (x - below);
        offset += stride * static_cast<std::size_t>(below + (upper && last > 0.0 ? 1.0 : 0.0));
        stride *= GetSize(d);
      }
      sum += weight * m_Image.GetBufferPointer()[offset];
    }
    return sum;
  }

  /** Returns ITK's central difference: half a spacing to each side along each physical axis; 0 at the border. */
  VectorType
  GetGradient(const PointType & point) const
  {
    VectorType gradient;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      VectorType step;
      step.Fill(0.0);
      step[d] = 0.5 * m_Image.GetSpacing()[d];
      gradient[d] = IsInside(point + step) && IsInside(point - step)
                      ? (Evaluate(point + step) - Evaluate(point - step)) / m_Image.GetSpacing()[d]
                      : 0.0;
    }
    return gradient;
  }

  double minimum;
  double maximum;

private:
  std::size_t
  GetSize(unsigned int d) const
  {
    return m_Image.GetBufferedRegion().GetSize(d);
  }

  const ImageType &                           m_Image;
  itk::Matrix<double, VDimension, VDimension> m_ToIndex;
};

struct Reference
{
  double              value = 0;
  std::vector<double> derivative;
  std::size_t         validPoints = 0;
};

double
ComputeEntropy(const std::vector<double> & density)
{
  double sum = 0;
  for (const double p : density)
  {
    sum -= p > 0 ? p * std::log(p) : 0.0;
  }
  return sum;
}

/** The joint counts, and their derivatives by each parameter. */
struct JointCounts
{
  struct Slope
  {
    std::size_t parameter, cell;
    double      slope;
  };

  std::vector<double> joint;
  std::vector<Slope>  slopes;
  std::size_t         validPoints = 0;
};

/** Counts the samples. \param map      (number of the sample, virtual point) → moving point
 *  \param jacobian (number, virtual point, add) calls add(parameter, derivative of the moving point by it) */
template <unsigned int VDimension, typename TMap, typename TJacobian>
JointCounts
CountJoint(const TestImage<float, VDimension> & fixed,
           const TestImage<float, VDimension> & moving,
           int                                  bins,
           const TMap &                         map,
           const TJacobian &                    jacobian)
{
  const ReferenceImage<VDimension> f(fixed);
  const ReferenceImage<VDimension> m(moving);
  const double                     fixedBin = (f.maximum - f.minimum) / (bins - 4);
  const double                     movingBin = (m.maximum - m.minimum) / (bins - 4);
  const std::size_t                count = fixed.GetBufferedRegion().GetNumberOfPixels();
  JointCounts                      counts;
  counts.joint.assign(static_cast<std::size_t>(bins) * bins, 0.0);
  for (std::size_t n = 0; n < count; ++n)
  {
    itk::Point<double, VDimension> point;
    fixed.TransformIndexToPhysicalPoint(fixed.ComputeIndex(n), point);
    const auto moved = map(n, point);
    if (!m.IsInside(moved))
    {
      continue;
    }
    ++counts.validPoints;
    const double fixedPosition = (fixed.GetBufferPointer()[n] - f.minimum) / fixedBin + 2.0;
    const int    row = std::min(std::max(static_cast<int>(fixedPosition), 2), bins - 3);
    const double position = (static_cast<float>(m.Evaluate(moved)) - m.minimum) / movingBin + 2.0;
    const int    first = std::min(std::max(static_cast<int>(position), 2), bins - 3) - 1;
    const auto   gradient = m.GetGradient(moved);
    for (int k = first; k < first + 4; ++k)
    {
      const std::size_t cell = static_cast<std::size_t>(row) * bins + k;
      counts.joint[cell] += CubicBSpline(k - position);
      jacobian(n, point, [&](std::size_t parameter, const auto & direction) {
        counts.slopes.push_back(
          { parameter, cell, -CubicBSplineSlope(k - position) * (gradient * direction) / movingBin });
      });
    }
  }
  return counts;
}

/** Returns (H_f + H_m)/H_j or mutual information, and its derivative, directly from the definition: the joint density, the derivative of
 *  each of its entries by each parameter, and the chain rule. For map and jacobian see CountJoint. */
template <unsigned int VDimension, typename TMap, typename TJacobian>
Reference
ComputeReference(const TestImage<float, VDimension> & fixed,
                 const TestImage<float, VDimension> & moving,
                 int                                  bins,
                 bool                                 normalized,
                 std::size_t                          parameters,
                 const TMap &                         map,
                 const TJacobian &                    jacobian)
{
  const JointCounts   counts = CountJoint(fixed, moving, bins, map, jacobian);
  std::vector<double> joint = counts.joint;
  Reference           reference;
  reference.validPoints = counts.validPoints;
  std::vector<double> fixedMarginal(bins, 0.0), movingMarginal(bins, 0.0);
  for (std::size_t cell = 0; cell < joint.size(); ++cell)
  {
    joint[cell] /= static_cast<double>(reference.validPoints);
    fixedMarginal[cell / bins] += joint[cell];
    movingMarginal[cell % bins] += joint[cell];
  }
  const double marginalEntropies = ComputeEntropy(fixedMarginal) + ComputeEntropy(movingMarginal);
  const double jointEntropy = ComputeEntropy(joint);
  reference.value = normalized ? -marginalEntropies / jointEntropy : -(marginalEntropies - jointEntropy);

  // dH = -Σ dp (ln p + 1); the fixed marginal does not depend on the parameters.
  const auto derivativeByCell = [&](std::size_t cell) {
    const double dMarginals = -(std::log(movingMarginal[cell % bins]) + 1.0);
    const double dJoint = -(std::log(joint[cell]) + 1.0);
    return normalized ? (dMarginals - marginalEntropies / jointEntropy * dJoint) / jointEntropy : dMarginals - dJoint;
  };
  reference.derivative.assign(parameters, 0.0);
  for (const JointCounts::Slope & of : counts.slopes)
  {
    reference.derivative[of.parameter] += joint[of.cell] > 0 ? of.slope * derivativeByCell(of.cell) : 0.0;
  }
  for (double & d : reference.derivative)
  {
    d /= static_cast<double>(reference.validPoints);
  }
  return reference;
}

/** Returns the reference of an affine transform, by its own formula: moved = A (p - c) + c + t. */
template <unsigned int VDimension>
Reference
ComputeAffineReference(const TestImage<float, VDimension> &             fixed,
                       const TestImage<float, VDimension> &             moving,
                       int                                              bins,
                       bool                                             normalized,
                       const itk::AffineTransform<double, VDimension> & transform)
{
  using VectorType = itk::Vector<double, VDimension>;
  const auto centre = transform.GetCenter();
  const auto matrix = transform.GetMatrix();
  const auto translation = transform.GetTranslation();
  return ComputeReference<VDimension>(
    fixed,
    moving,
    bins,
    normalized,
    VDimension * (VDimension + 1),
    [&](std::size_t, const auto & p) { return centre + matrix * (p - centre) + translation; },
    [&](std::size_t, const auto & p, const auto & add) {
      for (unsigned int r = 0; r < VDimension; ++r)
      {
        for (unsigned int c = 0; c <= VDimension; ++c)
        {
          VectorType direction;
          direction.Fill(0.0);
          direction[r] = c < VDimension ? p[c] - centre[c] : 1.0;
          add(c < VDimension ? r * VDimension + c : VDimension * VDimension + r, direction);
        }
      }
    });
}

/** Returns the reference of any of ITK's transforms, by its own Jacobian. */
template <unsigned int VDimension>
Reference
ComputeReferenceOf(const TestImage<float, VDimension> &                   fixed,
                   const TestImage<float, VDimension> &                   moving,
                   int                                                    bins,
                   bool                                                   normalized,
                   const itk::Transform<double, VDimension, VDimension> & transform)
{
  typename itk::Transform<double, VDimension, VDimension>::JacobianType jacobian;
  return ComputeReference<VDimension>(
    fixed,
    moving,
    bins,
    normalized,
    transform.GetNumberOfParameters(),
    [&](std::size_t, const auto & p) { return transform.TransformPoint(p); },
    [&](std::size_t, const auto & p, const auto & add) {
      transform.ComputeJacobianWithRespectToParameters(p, jacobian);
      for (unsigned int parameter = 0; parameter < jacobian.cols(); ++parameter)
      {
        itk::Vector<double, VDimension> direction;
        for (unsigned int d = 0; d < VDimension; ++d)
        {
          direction[d] = jacobian[d][parameter];
        }
        add(parameter, direction);
      }
    });
}

template <unsigned int VDimension>
struct Pair
{

  typename TestImage<float, VDimension>::Pointer             fixed;
  typename TestImage<float, VDimension>::Pointer             moving;
  typename itk::AffineTransform<double, VDimension>::Pointer transform;
};

/** A pair of images with any transform. */
template <unsigned int VDimension>
struct ChainedPair
{
  using ImageType = TestImage<float, VDimension>;

  typename ImageType::Pointer                                      fixed;
  typename ImageType::Pointer                                      moving;
  typename itk::Transform<double, VDimension, VDimension>::Pointer transform;
};

/** Makes two images on oblique, anisotropic grids, and an affine transform by which they overlap in part. */
template <unsigned int VDimension>
Pair<VDimension>
MakeAffinePair(std::uint64_t seed)
{
  Grid<VDimension> grid;
  grid.size.Fill(VDimension == 3 ? 24 : 90);
  grid.size[1] -= 5;
  grid.spacing[0] = 1.7;
  grid.origin.Fill(-31.0);
  grid.direction = MakeRotation<VDimension>(0.3);
  Grid<VDimension> movingGrid = grid;
  movingGrid.direction = MakeRotation<VDimension>(-0.2);
  movingGrid.spacing[1] = 0.9;
  movingGrid.start.Fill(3);
  movingGrid.SetCentre(grid.GetCentre());
  Pair<VDimension> pair;
  std::tie(pair.fixed, pair.moving) = MakeImagePair<TestImage<float, VDimension>>(grid, movingGrid, seed);
  pair.transform = itk::AffineTransform<double, VDimension>::New();
  pair.transform->SetCenter(grid.GetCentre());
  auto   parameters = pair.transform->GetParameters();
  Random random(seed + 1);
  for (unsigned int p = 0; p < parameters.size(); ++p)
  {
    parameters[p] += Uniform(random, -0.06, 0.06) * (p < VDimension * VDimension ? 1.0 : 20.0);
  }
  pair.transform->SetParameters(parameters);
  return pair;
}

template <unsigned int VDimension>
typename OurMetric<float, VDimension>::Pointer
MakeMetric(const itk::GPUDevice &                                       device,
           TestImage<float, VDimension> *                               fixed,
           TestImage<float, VDimension> *                               moving,
           typename OurMetric<float, VDimension>::MovingTransformType * transform)
{
  const auto metric = OurMetric<float, VDimension>::New();
  metric->SetDevice(device);
  metric->SetFixedImage(fixed);
  metric->SetMovingImage(moving);
  metric->SetMovingTransform(transform);
  metric->UseMovingImageGradientFilterOff();
  return metric;
}

void
ExpectEqual(const itk::Array<double> & derivative, const std::vector<double> & reference, double tolerance)
{
  ASSERT_EQ(derivative.size(), reference.size());
  double error = 0, norm = 0;
  for (std::size_t p = 0; p < reference.size(); ++p)
  {
    error += (derivative[p] - reference[p]) * (derivative[p] - reference[p]);
    norm += reference[p] * reference[p];
  }
  ASSERT_GT(norm, 0.0);
  EXPECT_LE(std::sqrt(error / norm), tolerance);
}

class NmiTest : public DeviceTest
{
protected:
  template <unsigned int VDimension>
  void
  CompareWithReference(int bins, bool normalized)
  {
    SCOPED_TRACE(::testing::Message() << VDimension << "D, " << bins << " bins, normalized " << normalized);
    const auto pair = MakeAffinePair<VDimension>(7 + bins);
    const auto reference =
      ComputeAffineReference<VDimension>(*pair.fixed, *pair.moving, bins, normalized, *pair.transform);
    const auto metric = MakeMetric<VDimension>(GetDevice(), pair.fixed, pair.moving, pair.transform);
    metric->SetNumberOfHistogramBins(bins);
    metric->SetNormalized(normalized);
    metric->Initialize();
    double             value;
    itk::Array<double> derivative;
    metric->GetValueAndDerivative(value, derivative);
    EXPECT_EQ(metric->GetNumberOfValidPoints(), reference.validPoints);
    EXPECT_LT(reference.validPoints, pair.fixed->GetBufferedRegion().GetNumberOfPixels());
    EXPECT_NEAR(value, reference.value, 1e-5 * std::abs(reference.value));
    EXPECT_NEAR(metric->GetValue(), reference.value, 1e-5 * std::abs(reference.value));
    ExpectEqual(derivative, reference.derivative, 1e-4);
  }

  /** Compares a metric with the reference. \param change puts the transform among grids. */
  template <unsigned int VDimension, typename TChange>
  void
  CompareInChain(const TChange & change)
  {
    SCOPED_TRACE(::testing::Message() << VDimension << "D");
    const int               bins = 32;
    const auto              affine = MakeAffinePair<VDimension>(7 + bins);
    ChainedPair<VDimension> pair{ affine.fixed, affine.moving, affine.transform.GetPointer() };
    change(pair);
    const auto metric = MakeMetric<VDimension>(GetDevice(), pair.fixed, pair.moving, pair.transform);
    metric->SetNumberOfHistogramBins(bins);
    for (const bool normalized : { true, false })
    {
      const auto reference =
        ComputeReferenceOf<VDimension>(*pair.fixed, *pair.moving, bins, normalized, *pair.transform);
      metric->SetNormalized(normalized);
      metric->Initialize();
      double             value;
      itk::Array<double> derivative;
      const Listening    listening;
      metric->GetValueAndDerivative(value, derivative);
      EXPECT_EQ(metric->GetNumberOfValidPoints(), reference.validPoints);
      EXPECT_NEAR(value, reference.value, 1e-5 * std::abs(reference.value));
      ExpectEqual(derivative, reference.derivative, 1e-4);
      EXPECT_EQ(listening.window->Count("WARNING"), 0u);
    }
  }
};
} // namespace

TEST_P(NmiTest, IsTheFormula)
{
  for (const int bins : { 12, 32, 50 })
  {
    CompareWithReference<2>(bins, true);
    CompareWithReference<3>(bins, true);
  }
}

TEST_P(NmiTest, MutualInformationIsTheFormula)
{
  CompareWithReference<2>(32, false);
  CompareWithReference<3>(32, false);
}

TEST_P(NmiTest, AmongGridsThatAreNotOptimisedItIsTheFormula)
{
  ForEachChainOfGrids([this](const auto & change) {
    this->CompareInChain<2>(change);
    this->CompareInChain<3>(change);
  });
}

TEST_P(NmiTest, IsNormalizedUnlessSetOtherwise)
{
  const auto pair = MakeAffinePair<2>(3);
  const auto metric = MakeMetric<2>(GetDevice(), pair.fixed, pair.moving, pair.transform);
  EXPECT_TRUE(metric->GetNormalized());
  metric->Initialize();
  const double byDefault = metric->GetValue();
  EXPECT_LT(byDefault, -1.0); // (H_f + H_m)/H_j is in [1, 2]
  EXPECT_GT(byDefault, -2.0);
  metric->NormalizedOff();
  const double mutualInformation = metric->GetValue();
  EXPECT_NE(mutualInformation, byDefault);
  metric->NormalizedOn();
  EXPECT_EQ(metric->GetValue(), byDefault);
}

TEST_P(NmiTest, OfAnImageWithItselfIsHigherThanOfItMoved)
{
  const auto pair = MakeAffinePair<3>(5);
  const auto transform = itk::AffineTransform<double, 3>::New();
  const auto metric = MakeMetric<3>(GetDevice(), pair.fixed, pair.fixed, transform);
  metric->Initialize();
  const double aligned = metric->GetValue();
  transform->SetParameters(pair.transform->GetParameters());
  EXPECT_LT(aligned, metric->GetValue() - 0.05);
}

/** In a displacement field, each voxel has a derivative of its own. */
TEST_P(NmiTest, OfADisplacementFieldIsTheFormula)
{
  using FieldTransformType = itk::DisplacementFieldTransform<double, 2>;
  const auto pair = MakeAffinePair<2>(11);
  const auto field = FieldTransformType::DisplacementFieldType::New();
  field->CopyInformation(pair.fixed);
  field->SetRegions(pair.fixed->GetBufferedRegion());
  field->Allocate();
  auto * const vectors = field->GetBufferPointer();
  const auto   count = field->GetBufferedRegion().GetNumberOfPixels();
  for (std::size_t n = 0; n < count; ++n)
  {
    vectors[n][0] = 2.3 * std::sin(0.011 * static_cast<double>(n)) + 0.41;
    vectors[n][1] = 1.7 * std::cos(0.0007 * static_cast<double>(n)) - 0.29;
  }
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  const auto reference = ComputeReference<2>(
    *pair.fixed,
    *pair.moving,
    20,
    true,
    2 * count,
    [&](std::size_t n, const auto & p) { return p + vectors[n]; },
    [&](std::size_t n, const auto &, const auto & add) {
      for (unsigned int d = 0; d < 2; ++d)
      {
        itk::Vector<double, 2> direction;
        direction.Fill(0.0);
        direction[d] = 1.0;
        add(2 * n + d, direction);
      }
    });
  const auto metric = MakeMetric<2>(GetDevice(), pair.fixed, pair.moving, transform);
  metric->SetNumberOfHistogramBins(20);
  metric->Initialize();
  double             value;
  itk::Array<double> derivative;
  metric->GetValueAndDerivative(value, derivative);
  EXPECT_EQ(metric->GetNumberOfValidPoints(), reference.validPoints);
  EXPECT_NEAR(value, reference.value, 1e-5 * std::abs(reference.value));
  ExpectEqual(derivative, reference.derivative, 1e-4);
}

/** A B-spline that is optimized, normalized and not, of each of ITK's two classes. */
TEST_P(NmiTest, OfABSplineIsTheFormula)
{
  const auto pair = MakeAffinePair<2>(12);
  const auto spline = MakeRandomSpline<2>(*pair.fixed, 3, 3.0, 7);
  const auto parameters = static_cast<unsigned int>(spline->GetNumberOfParameters());
  for (const bool normalized : { true, false })
  {
    SCOPED_TRACE(normalized);
    typename std::decay_t<decltype(*spline)>::JacobianType jacobian;
    const auto                                             reference = ComputeReference<2>(
      *pair.fixed,
      *pair.moving,
      20,
      normalized,
      parameters,
      [&](std::size_t, const auto & p) { return spline->TransformPoint(p); },
      [&](std::size_t, const auto & p, const auto & add) {
        spline->ComputeJacobianWithRespectToParameters(p, jacobian);
        for (unsigned int n = 0; n < parameters; ++n)
        {
          itk::Vector<double, 2> direction;
          direction[0] = jacobian[0][n];
          direction[1] = jacobian[1][n];
          if (direction.GetNorm() > 0)
          {
            add(n, direction);
          }
        }
      });
    for (const itk::Transform<double, 2, 2>::Pointer & transform :
         { itk::Transform<double, 2, 2>::Pointer(spline),
           itk::Transform<double, 2, 2>::Pointer(MakeDeformable(*spline)) })
    {
      SCOPED_TRACE(transform->GetNameOfClass());
      const auto metric = MakeMetric<2>(GetDevice(), pair.fixed, pair.moving, transform);
      metric->SetNormalized(normalized);
      metric->SetNumberOfHistogramBins(20);
      metric->Initialize();
      double             value;
      itk::Array<double> derivative;
      metric->GetValueAndDerivative(value, derivative);
      EXPECT_GT(metric->GetEvaluationStatistics().launches, 0);
      EXPECT_EQ(metric->GetNumberOfValidPoints(), reference.validPoints);
      EXPECT_NEAR(value, reference.value, 1e-5 * std::abs(reference.value));
      ExpectEqual(derivative, reference.derivative, 1e-5);
    }
  }
}

/** The derivative is that of the value, by central differences. In general this holds to a few percent only, since ITK's gradient, a
 *  difference over a whole spacing, is not the slope of the linear interpolant. So the moving image here is a ramp, for which both
 *  slopes are the ramp's; it is so large that no sample leaves it, and then the value is as smooth as the cubic window. The remaining
 *  errors are those of the differences, of second order in the step, and of rounding a value in fixed point, some 1e-8, divided by the
 *  step: both are below 1e-3 of the derivative. */
TEST_P(NmiTest, DerivativeIsTheSlopeOfTheValue)
{
  constexpr unsigned int Dimension = 3;
  Grid<Dimension>        grid;
  grid.size.Fill(26);
  grid.spacing[1] = 1.3;
  Grid<Dimension> movingGrid = grid;
  movingGrid.size.Fill(60);
  movingGrid.SetCentre(grid.GetCentre());
  const auto             centre = grid.GetCentre();
  Random                 random(4);
  const SmoothFunction   texture(random, 15.0, 40.0);
  itk::Vector<double, 3> slope;
  slope[0] = 1.0;
  slope[1] = -0.7;
  slope[2] = 0.4;
  const auto fixed = MakeImage<TestImage<float, Dimension>>(grid, [&](const auto & p) {
    return std::sin(0.12 * (slope * (p - centre))) + 0.8 * texture(p - centre);
  });
  const auto moving =
    MakeImage<TestImage<float, Dimension>>(movingGrid, [&](const auto & p) { return slope * (p - centre); });

  const auto transform = itk::AffineTransform<double, Dimension>::New();
  transform->SetCenter(centre);
  auto start = transform->GetParameters();
  for (unsigned int p = 0; p < start.size(); ++p)
  {
    start[p] += Uniform(random, -0.05, 0.05) * (p < 9 ? 1.0 : 10.0);
  }
  transform->SetParameters(start);
  const auto metric = MakeMetric<Dimension>(GetDevice(), fixed, moving, transform);
  metric->SetNumberOfHistogramBins(24);
  for (const bool normalized : { true, false })
  {
    metric->SetNormalized(normalized);
    metric->Initialize();
    double             value;
    itk::Array<double> derivative;
    metric->GetValueAndDerivative(value, derivative);
    ASSERT_EQ(metric->GetNumberOfValidPoints(), fixed->GetBufferedRegion().GetNumberOfPixels());

    std::vector<double> differences;
    for (unsigned int p = 0; p < start.size(); ++p)
    {
      const double step = p < 9 ? 0.004 : 0.05;
      auto         moved = start;
      moved[p] = start[p] + step;
      transform->SetParameters(moved);
      const double ahead = metric->GetValue();
      moved[p] = start[p] - step;
      transform->SetParameters(moved);
      const double behind = metric->GetValue();
      differences.push_back(-(ahead - behind) / (2.0 * step));
    }
    transform->SetParameters(start);
    ExpectEqual(derivative, differences, 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, NmiTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
