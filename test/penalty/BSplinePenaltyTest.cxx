// SPDX-License-Identifier: Apache-2.0
// Compares penalties of a B-spline, as a metric, with their definition in double precision, and tests them in registrations together with a
// similarity.
#include "PenaltyDefinition.h"
#include "RandomGrid.h"
#include "RegistrationSetUp.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"
#include "TestSeeds.h"
#include "TestSplines.h"

#include "itkGPUBSplinePenaltyMetric.h"
#include "itkGPUError.h"
#include "itkWeightedSumMultiMetricv4.h"

#include "itkAffineTransform.h"
#include "itkBSplineDeformableTransform.h"
#include "itkBSplineTransform.h"
#include "itkBSplineTransformParametersAdaptor.h"
#include "itkCompositeTransform.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkLBFGSBOptimizerv4.h"
#include "itkTranslationTransform.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using namespace penalties;

template <unsigned int VDimension>
using ImageOf = TestImage<float, VDimension>;
template <unsigned int VDimension>
using PenaltyOf = itk::GPUBSplinePenaltyMetric<ImageOf<VDimension>>;
template <unsigned int VDimension>
using SplineOf = itk::BSplineTransform<double, VDimension, 3>;
template <unsigned int VDimension>
using CompositeOf = itk::CompositeTransform<double, VDimension>;

/** Returns a B-spline that moves nothing, with different lengths and spacings along each axis, rotated, and sometimes mirrored. */
template <unsigned int VDimension>
typename SplineOf<VDimension>::Pointer
MakeGridOfSpline(Random & random)
{
  typename SplineOf<VDimension>::OriginType             origin;
  typename SplineOf<VDimension>::PhysicalDimensionsType lengths;
  typename SplineOf<VDimension>::MeshSizeType           mesh;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    origin[d] = Uniform(random, -200.0, 200.0);
    mesh[d] = 1 + Draw(random, VDimension == 3 ? 5 : 9);
    lengths[d] = static_cast<double>(mesh[d]) * Uniform(random, 3.0, 15.0);
  }
  const auto spline = SplineOf<VDimension>::New();
  spline->SetTransformDomainOrigin(origin);
  spline->SetTransformDomainPhysicalDimensions(lengths);
  spline->SetTransformDomainMeshSize(mesh);
  spline->SetTransformDomainDirection(DrawDirection<VDimension>(random));
  return spline;
}

/** Returns a B-spline whose coefficients, which are floats, differ by about a tenth of the smallest spacing between neighbours. */
template <unsigned int VDimension>
typename SplineOf<VDimension>::Pointer
MakeSpline(Random & random)
{
  const auto spline = MakeGridOfSpline<VDimension>(random);
  auto       parameters = spline->GetParameters();
  for (auto & parameter : parameters)
  {
    parameter = static_cast<float>(Uniform(random, -0.3, 0.3));
  }
  spline->SetParametersByValue(parameters);
  return spline;
}

/** Returns the control grid that ITK's fixed parameters describe: lengths, origin, spacings and direction. */
template <unsigned int VDimension>
gpureg::ControlGrid
GetControlGrid(const SplineOf<VDimension> & spline)
{
  const auto &        fixed = spline.GetFixedParameters();
  gpureg::ControlGrid grid;
  grid.dimension = VDimension;
  grid.size = { 1, 1, 1 };
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = static_cast<int>(fixed[d]);
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      grid.indexToPhysical[3 * r + d] = fixed[2 * VDimension + d] * fixed[3 * VDimension + r * VDimension + d];
    }
  }
  return grid;
}

template <unsigned int VDimension, typename TParameters>
Points
GetPoints(const TParameters & parameters)
{
  const std::size_t count = parameters.size() / VDimension;
  Points            points(count);
  for (std::size_t n = 0; n < count; ++n)
  {
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      points[n][d] = parameters[d * count + n];
    }
  }
  return points;
}

/** Returns a penalty metric of one kind only. */
template <unsigned int VDimension>
typename PenaltyOf<VDimension>::Pointer
MakePenalty(const itk::GPUDevice & device, PenaltyKind kind, double weight = 1.0)
{
  const auto penalty = PenaltyOf<VDimension>::New();
  penalty->SetDevice(device);
  penalty->SetBendingEnergyWeight(kind == PenaltyKind::BendingEnergy ? weight : 0.0);
  penalty->SetLinearEnergyWeight(kind == PenaltyKind::LinearEnergy ? weight : 0.0);
  penalty->SetJacobianPenaltyWeight(kind == PenaltyKind::Jacobian ? weight : 0.0);
  return penalty;
}

template <unsigned int VDimension>
Answer
AskOf(PenaltyOf<VDimension> & penalty, typename PenaltyOf<VDimension>::MovingTransformType * transform)
{
  penalty.SetMovingTransform(transform);
  return InitializeAndAsk(penalty);
}

/** Returns the bending energy by its definition. */
template <unsigned int VDimension>
double
ComputeBending(const SplineOf<VDimension> & spline)
{
  return Definition(GetControlGrid<VDimension>(spline))
    .Evaluate(PenaltyKind::BendingEnergy, GetPoints<VDimension>(spline.GetParameters()), nullptr);
}

class BSplinePenaltyTest : public DeviceTest
{
protected:
  template <unsigned int VDimension>
  void
  ExpectDefinition(Random & random, PenaltyKind kind) const
  {
    SCOPED_TRACE(::testing::Message() << VDimension << "D, kind " << static_cast<int>(kind));
    const auto   spline = MakeSpline<VDimension>(random);
    const auto   points = GetPoints<VDimension>(spline->GetParameters());
    Points       gradient;
    double       smallest = 0;
    double       rounding = 0;
    const double value =
      Definition(GetControlGrid<VDimension>(*spline)).Evaluate(kind, points, &gradient, &smallest, &rounding);
    ASSERT_GT(smallest, 0.2); // no node is nearly folded
    // The weight scales value and derivative.
    const double weight = Uniform(random, 0.1, 10.0);
    const auto   penalty = MakePenalty<VDimension>(GetDevice(), kind, weight);
    const Answer answer = AskOf<VDimension>(*penalty, spline);
    EXPECT_NEAR(answer.value, weight * value, weight * (1e-6 * value + rounding));
    EXPECT_EQ(answer.valueAlone, answer.value);
    ASSERT_EQ(answer.derivative.size(), spline->GetNumberOfParameters());
    for (Vector & g : gradient)
    {
      std::for_each(g.begin(), g.end(), [weight](double & x) { x *= -weight; });
    }
    EXPECT_LT(ComputeDistance(GetPoints<VDimension>(answer.derivative), gradient), 1e-5);
    std::size_t nodes = 1;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      nodes *= static_cast<std::size_t>(spline->GetFixedParameters()[d]) - 2;
    }
    EXPECT_EQ(answer.validPoints, nodes);
  }

  /** Tests the displacement (xᵀ A_r x + g_r x)_r, which a cubic B-spline represents exactly, since it is a polynomial. */
  template <unsigned int VDimension>
  void
  ExpectPolynomial(Random & random) const
  {
    const auto spline = MakeGridOfSpline<VDimension>(random);
    const auto image = spline->GetCoefficientImages()[0];
    using MatrixType = itk::Matrix<double, VDimension, VDimension>;
    std::array<MatrixType, VDimension>            quadratic;
    MatrixType                                    linear;
    typename SplineOf<VDimension>::InputPointType centre = spline->GetTransformDomainOrigin();
    double                                        bending = 0;
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      for (unsigned int a = 0; a < VDimension; ++a)
      {
        linear[r][a] = Uniform(random, -0.1, 0.1);
        for (unsigned int b = 0; b <= a; ++b)
        {
          quadratic[r][a][b] = quadratic[r][b][a] = Uniform(random, -0.01, 0.01);
        }
      }
      bending += 4.0 * std::pow(quadratic[r].GetVnlMatrix().frobenius_norm(), 2);
    }
    const auto displacement = [&](const auto & point, bool bends) {
      const auto                      x = point - centre;
      itk::Vector<double, VDimension> u = linear * x;
      for (unsigned int r = 0; bends && r < VDimension; ++r)
      {
        u[r] += x * (quadratic[r] * x);
      }
      return u;
    };
    const auto fill = [&](bool bends) {
      auto              parameters = spline->GetParameters();
      const std::size_t count = parameters.size() / VDimension;
      std::size_t       n = 0;
      for (itk::ImageRegionIteratorWithIndex<std::decay_t<decltype(*image)>> it(image, image->GetBufferedRegion());
           !it.IsAtEnd();
           ++it, ++n)
      {
        itk::Point<double, VDimension> point;
        image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
        const auto u = displacement(point, bends);
        for (unsigned int r = 0; r < VDimension; ++r)
        {
          // (1 4 1)/6 applied to a parabola is the parabola plus a sixth of its second difference.
          double sixth = 0;
          for (unsigned int d = 0; bends && d < VDimension; ++d)
          {
            itk::Vector<double, VDimension> step;
            for (unsigned int a = 0; a < VDimension; ++a)
            {
              step[a] = image->GetDirection()[a][d] * image->GetSpacing()[d];
            }
            sixth += step * (quadratic[r] * step) * 2.0 / 6.0;
          }
          parameters[r * count + n] = u[r] - sixth;
        }
      }
      spline->SetParametersByValue(parameters);
      // ITK's own transform moves points by this displacement.
      for (int k = 0; k < 5; ++k)
      {
        itk::Vector<double, VDimension> place;
        for (unsigned int d = 0; d < VDimension; ++d)
        {
          place[d] = Uniform(random, 0.01, 0.99) * spline->GetTransformDomainPhysicalDimensions()[d];
        }
        const auto point = spline->GetTransformDomainOrigin() + spline->GetTransformDomainDirection() * place;
        ASSERT_LT((spline->TransformPoint(point) - point - displacement(point, bends)).GetNorm(), 1e-9);
      }
    };
    fill(true);
    const auto ask = [&](PenaltyKind kind) {
      return AskOf<VDimension>(*MakePenalty<VDimension>(this->GetDevice(), kind), spline).value;
    };
    EXPECT_NEAR(ask(PenaltyKind::BendingEnergy) / bending, 1.0, 1e-5);
    fill(false);
    double     strain = 0;
    MatrixType jacobian = linear;
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      jacobian[r][r] += 1.0;
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        strain += std::pow(0.5 * (linear[r][c] + linear[c][r]), 2);
      }
    }
    EXPECT_NEAR(ask(PenaltyKind::LinearEnergy) / strain, 1.0, 1e-5);
    const double determinant = vnl_determinant(jacobian.GetVnlMatrix());
    EXPECT_NEAR(ask(PenaltyKind::Jacobian), std::pow(std::log(determinant), 2), 1e-6);
  }

  /** Compares the derivative with central differences of fourth order of the definition. */
  template <unsigned int VDimension>
  void
  ExpectDifferences(Random & random, PenaltyKind kind) const
  {
    auto spline = MakeSpline<VDimension>(random);
    while (spline->GetNumberOfParameters() > 800)
    {
      spline = MakeSpline<VDimension>(random);
    }
    const Definition    definition(GetControlGrid<VDimension>(*spline));
    const auto          parameters = spline->GetParameters();
    std::vector<double> expected;
    for (unsigned int p = 0; p < parameters.size(); ++p)
    {
      const auto valueAt = [&](double step) {
        auto moved = parameters;
        moved[p] += step;
        return definition.Evaluate(kind, GetPoints<VDimension>(moved), nullptr);
      };
      constexpr double h = 1e-4;
      expected.push_back(-(8.0 * (valueAt(h) - valueAt(-h)) - (valueAt(2 * h) - valueAt(-2 * h))) / (12.0 * h));
    }
    const Answer answer = AskOf<VDimension>(*MakePenalty<VDimension>(GetDevice(), kind), spline);
    EXPECT_LT(GetRelativeError(answer.derivative, expected), 1e-5)
      << VDimension << "D, kind " << static_cast<int>(kind);
  }

  /** Compares the metric's derivative with central differences of its own value, which are exact, since energies are parabolas along any
   *  line. */
  template <unsigned int VDimension>
  void
  ExpectValuesAlongALine(Random & random, PenaltyKind kind) const
  {
    const auto   spline = MakeSpline<VDimension>(random);
    const auto   penalty = MakePenalty<VDimension>(GetDevice(), kind);
    const Answer answer = AskOf<VDimension>(*penalty, spline);
    const auto   parameters = spline->GetParameters();
    // The line leads downhill from here, and slightly to one side.
    const double steepest = *std::max_element(answer.derivative.begin(), answer.derivative.end());
    auto         step = parameters;
    double       slope = 0;
    for (unsigned int p = 0; p < step.size(); ++p)
    {
      step[p] = 0.1 * answer.derivative[p] / steepest + Uniform(random, -0.01, 0.01);
      slope -= step[p] * answer.derivative[p];
    }
    const auto valueAt = [&](double factor) {
      auto moved = parameters;
      for (unsigned int p = 0; p < moved.size(); ++p)
      {
        moved[p] += factor * step[p];
      }
      spline->SetParametersByValue(moved);
      return penalty->GetValue();
    };
    EXPECT_LT(slope, 0.0);
    EXPECT_NEAR((valueAt(1.0) - valueAt(-1.0)) / 2.0, slope, 1e-5 * answer.value)
      << VDimension << "D, kind " << static_cast<int>(kind);
  }

  template <unsigned int VDimension>
  void
  ExpectSameWhereverTheSplineIs(Random & random) const
  {
    using AffineType = itk::AffineTransform<double, VDimension>;
    const auto spline = MakeSpline<VDimension>(random);
    const auto penalty = PenaltyOf<VDimension>::New();
    penalty->SetDevice(GetDevice());
    penalty->SetLinearEnergyWeight(0.3);
    penalty->SetJacobianPenaltyWeight(2.0);
    const Answer alone = AskOf<VDimension>(*penalty, spline);
    EXPECT_GT(alone.value, 0.0);
    const auto expectSame = [&](typename PenaltyOf<VDimension>::MovingTransformType * transform) {
      const Answer answer = AskOf<VDimension>(*penalty, transform);
      EXPECT_EQ(answer.value, alone.value) << *transform;
      EXPECT_EQ(answer.valueAlone, alone.value);
      EXPECT_EQ(answer.derivative, alone.derivative);
    };
    expectSame(MakeDeformable(*spline));
    const auto affine = AffineType::New();
    affine->Scale(1.3);
    const auto composite = CompositeOf<VDimension>::New();
    composite->AddTransform(affine);
    composite->AddTransform(spline);
    composite->SetOnlyMostRecentTransformToOptimizeOn();
    expectSame(composite);
    const auto outer = CompositeOf<VDimension>::New();
    outer->AddTransform(affine);
    outer->AddTransform(composite);
    outer->SetOnlyMostRecentTransformToOptimizeOn();
    expectSame(outer);
    penalty->SetMaximumNumberOfWorkUnits(1);
    expectSame(spline);
  }
};
} // namespace

TEST_P(BSplinePenaltyTest, AgreesWithItsDefinition)
{
  ForEachSeed(1, 12, [&](std::uint64_t seed) {
    Random random(seed);
    for (const PenaltyKind kind : Kinds)
    {
      ExpectDefinition<2>(random, kind);
      ExpectDefinition<3>(random, kind);
    }
  });
}

TEST_P(BSplinePenaltyTest, OfPolynomials)
{
  ForEachSeed(20, 6, [&](std::uint64_t seed) {
    Random random(seed);
    ExpectPolynomial<2>(random);
    ExpectPolynomial<3>(random);
  });
}

TEST_P(BSplinePenaltyTest, DerivativeIsThatOfTheNegativeValue)
{
  ForEachSeed(40, 2, [&](std::uint64_t seed) {
    Random random(seed);
    for (const PenaltyKind kind : Kinds)
    {
      ExpectDifferences<2>(random, kind);
      ExpectDifferences<3>(random, kind);
      if (kind != PenaltyKind::Jacobian)
      {
        ExpectValuesAlongALine<2>(random, kind);
        ExpectValuesAlongALine<3>(random, kind);
      }
    }
  });
}

TEST_P(BSplinePenaltyTest, WhereverTheSplineIs)
{
  Random random(GetSeeds(60, 1).first);
  ExpectSameWhereverTheSplineIs<2>(random);
  ExpectSameWhereverTheSplineIs<3>(random);
}

TEST_P(BSplinePenaltyTest, PrintsAndCounts)
{
  Random     random(GetSeeds(70, 1).first);
  const auto penalty = MakePenalty<3>(GetDevice(), PenaltyKind::Jacobian, 0.25);
  AskOf<3>(*penalty, MakeSpline<3>(random));
  EXPECT_EQ(penalty->GetEvaluationStatistics().launches, 1); // for the value alone
  std::ostringstream text;
  text << *penalty;
  EXPECT_NE(text.str().find("JacobianPenaltyWeight: 0.25"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("Device: " + GetParam()), std::string::npos) << text.str();
}

TEST_P(BSplinePenaltyTest, BadInput)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Random           random(GetSeeds(80, 1).first);
  const auto       good = MakeSpline<2>(random);
  const auto       penalty = PenaltyOf<2>::New();
  penalty->SetDevice(GetDevice());
  const Answer expected = AskOf<2>(*penalty, good);
  const auto   expectComplaint = [&](PenaltyOf<2>::MovingTransformType * transform, const std::string & words) {
    // Evaluations notice a changed transform as Initialize() does.
    for (const bool initializes : { true, false })
    {
      penalty->SetMovingTransform(transform);
      try
      {
        initializes ? penalty->Initialize() : static_cast<void>(penalty->GetValue());
        ADD_FAILURE() << "nothing was thrown where \"" << words << "\" was expected";
      }
      catch (const itk::GPUBadInputError & error)
      {
        EXPECT_NE(std::string(error.GetDescription()).find(words), std::string::npos) << error;
      }
      penalty->SetBendingEnergyWeight(1.0);
      penalty->SetJacobianPenaltyWeight(0.0);
      const Answer answer = AskOf<2>(*penalty, good);
      EXPECT_EQ(answer.value, expected.value);
      EXPECT_EQ(answer.derivative, expected.derivative);
    }
  };
  const auto image = MakeImage<ImageOf<2>>(Grid<2>(), [](const auto &) { return 1.0f; });
  const auto affine = itk::AffineTransform<double, 2>::New();
  expectComplaint(nullptr, "no moving transform");
  expectComplaint(itk::IdentityTransform<double, 2>::New(), "is a IdentityTransform");
  expectComplaint(affine, "is a AffineTransform");
  expectComplaint(MakeSplineOver<1>(*image, 3), "of order 3");
  expectComplaint(MakeSplineOver<2>(*image, 3), "of order 3");
  const auto composite = CompositeOf<2>::New();
  expectComplaint(composite, "optimises 0 of its transforms");
  composite->AddTransform(affine);
  composite->AddTransform(good);
  expectComplaint(composite, "optimises 2 of its transforms");
  composite->SetNthTransformToOptimizeOff(1);
  expectComplaint(composite, "is a AffineTransform");

  const auto deformable = MakeDeformable(*good);
  deformable->SetBulkTransform(itk::IdentityTransform<double, 2>::New());
  EXPECT_EQ(AskOf<2>(*penalty, deformable).value, expected.value);
  deformable->SetBulkTransform(affine);
  expectComplaint(deformable, "a bulk transform, a AffineTransform");

  const auto withWeights = [&](double bending, double jacobian, const std::string & words) {
    for (const bool initializes : { true, false })
    {
      penalty->SetBendingEnergyWeight(bending);
      penalty->SetJacobianPenaltyWeight(jacobian);
      try
      {
        initializes ? penalty->Initialize() : static_cast<void>(penalty->GetValue());
        ADD_FAILURE() << "nothing was thrown where \"" << words << "\" was expected";
      }
      catch (const itk::GPUBadInputError & error)
      {
        EXPECT_NE(std::string(error.GetDescription()).find(words), std::string::npos) << error;
      }
    }
  };
  withWeights(0.0, 0.0, "are 0");
  withWeights(1.0, -0.5, "is -0.5");
  withWeights(nan, 1.0, "is nan");
  withWeights(std::numeric_limits<double>::infinity(), 1.0, "is inf");
  penalty->SetBendingEnergyWeight(1.0);
  penalty->SetJacobianPenaltyWeight(0.0);

  // The engine refuses these parameters at an evaluation.
  auto parameters = good->GetParameters();
  parameters[1] = nan;
  const auto broken = MakeDeformable(*good);
  broken->SetParametersByValue(parameters);
  penalty->SetMovingTransform(broken);
  penalty->Initialize();
  EXPECT_THROW(penalty->GetValue(), itk::GPUBadInputError);
  EXPECT_EQ(AskOf<2>(*penalty, good).value, expected.value);
  EXPECT_EQ(AskOf<2>(*penalty, good).derivative, expected.derivative);
}

/** Value and derivative are the weighted sums of those of the metrics. */
TEST_P(BSplinePenaltyTest, WeightedSum)
{
  using SumType = itk::WeightedSumMultiMetricv4<2, 2, ImageOf<2>>;
  Random     random(GetSeeds(90, 1).first);
  const auto spline = MakeSpline<2>(random);
  const auto sum = SumType::New();
  EXPECT_STREQ(sum->GetNameOfClass(), "WeightedSumMultiMetricv4");
  std::vector<Answer> answers;
  for (const PenaltyKind kind : Kinds)
  {
    const auto penalty = MakePenalty<2>(GetDevice(), kind);
    answers.push_back(AskOf<2>(*penalty, spline));
    sum->AddMetric(penalty);
  }
  EXPECT_THROW(sum->AddMetric(PenaltyOf<3>::New()), itk::ExceptionObject);
  EXPECT_THROW(sum->GetValue(), itk::ExceptionObject); // before Initialize()
  const auto expectSum = [&](const std::vector<double> & weights) {
    sum->Initialize();
    Answer expected;
    expected.derivative.resize(spline->GetNumberOfParameters());
    for (std::size_t k = 0; k < answers.size(); ++k)
    {
      expected.value += weights[k] * answers[k].value;
      for (std::size_t p = 0; p < expected.derivative.size(); ++p)
      {
        expected.derivative[p] += weights[k] * answers[k].derivative[p];
      }
    }
    const Answer answer = Evaluate(*sum);
    EXPECT_NEAR(answer.value, expected.value, 1e-14 * expected.value);
    EXPECT_LT(GetRelativeError(answer.derivative, expected.derivative), 1e-14);
    EXPECT_EQ(sum->GetValue(), answer.value);
    EXPECT_EQ(sum->GetWeightedValue(), answer.value);
    EXPECT_EQ(sum->GetCurrentValue(), answer.value);
    SumType::DerivativeType derivative;
    sum->GetDerivative(derivative);
    EXPECT_EQ(std::vector<double>(derivative.begin(), derivative.end()), answer.derivative);
    for (std::size_t k = 0; k < answers.size(); ++k)
    {
      EXPECT_EQ(sum->GetValueArray()[k], answers[k].value);
    }
  };
  expectSum({ 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0 });
  SumType::WeightsArrayType weights(3);
  weights[0] = 8.0;
  weights[1] = 0.0;
  weights[2] = 2.0;
  sum->SetMetricWeights(weights);
  expectSum({ 0.8, 0.0, 0.2 });

  std::ostringstream text;
  sum->Print(text);
  std::ostringstream expectedText;
  expectedText << "  Value: " << sum->GetWeightedValue() << "\n  Values: " << sum->GetValueArray() << '\n';
  EXPECT_NE(text.str().find(expectedText.str()), std::string::npos) << text.str();

  // Weights that are set after Initialize() are used as they are.
  weights[0] = 3.0;
  sum->SetMetricWeights(weights);
  EXPECT_DOUBLE_EQ(sum->GetValue(), 3.0 * answers[0].value + 2.0 * answers[2].value);
  EXPECT_DOUBLE_EQ(Evaluate(*sum).derivative[7], 3.0 * answers[0].derivative[7] + 2.0 * answers[2].derivative[7]);
  expectSum({ 0.6, 0.0, 0.4 });
  SumType::WeightsArrayType tooFew(2);
  tooFew.Fill(0.5);
  sum->SetMetricWeights(tooFew);
  EXPECT_THROW(sum->Initialize(), itk::ExceptionObject);
  EXPECT_THROW(sum->GetValue(), itk::ExceptionObject);
  weights.Fill(0.0);
  sum->SetMetricWeights(weights);
  EXPECT_THROW(sum->Initialize(), itk::ExceptionObject);
  constexpr double huge = std::numeric_limits<double>::max();
  const auto       expectRefused = [&](double first, double second, const std::string & words) {
    weights[0] = first;
    weights[1] = second;
    weights[2] = 0.0;
    sum->SetMetricWeights(weights);
    // Evaluations notice a changed metric as Initialize() does.
    for (const bool initializes : { true, false })
    {
      try
      {
        initializes ? sum->Initialize() : static_cast<void>(sum->GetValue());
        ADD_FAILURE() << "nothing was thrown where \"" << words << "\" was expected";
      }
      catch (const itk::GPUBadInputError & error)
      {
        EXPECT_NE(std::string(error.GetDescription()).find(words), std::string::npos) << error;
      }
    }
    weights[0] = weights[1] = 4.0;
    weights[2] = 8.0;
    sum->SetMetricWeights(weights);
    expectSum({ 0.25, 0.25, 0.5 });
  };
  expectRefused(1.5, -0.5, "weight of metric 1 is -0.5");
  expectRefused(std::numeric_limits<double>::quiet_NaN(), 1.0, "weight of metric 0 is nan");
  expectRefused(1.0, std::numeric_limits<double>::infinity(), "weight of metric 1 is inf");
  expectRefused(huge, huge, "come to inf");

  sum->AddMetric(MakePenalty<2>(GetDevice(), PenaltyKind::Jacobian));
  EXPECT_THROW(sum->GetValue(), itk::ExceptionObject); // there are weights of three metrics

  // The message of a metric about bad input is part of the multi-metric's message.
  const auto bad = SumType::New();
  bad->AddMetric(MakePenalty<2>(GetDevice(), PenaltyKind::Jacobian));
  bad->SetMovingTransform(itk::TranslationTransform<double, 2>::New());
  try
  {
    bad->Initialize();
    ADD_FAILURE() << "a penalty of a translation was accepted";
  }
  catch (const itk::ExceptionObject & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find("is a TranslationTransform"), std::string::npos) << error;
  }
}

namespace
{
/** Two images, of which the moving one is the fixed one deformed by waves of 2 mm. */
struct Deformed
{
  Grid<2>              grid;
  ImageOf<2>::Pointer  fixed;
  ImageOf<2>::Pointer  moving;
  SplineOf<2>::Pointer spline;

  Deformed()
  {
    grid.size[0] = 70;
    grid.size[1] = 58;
    grid.spacing[1] = 1.2;
    grid.origin.Fill(-30.0);
    grid.direction = MakeRotation<2>(0.2);
    Random               random(100);
    const auto           centre = grid.GetCentre();
    const SmoothFunction value(random, 12.0, 40.0);
    const SmoothFunction along[] = { { random, 40.0, 70.0 }, { random, 40.0, 70.0 } };
    moving = MakeImage<ImageOf<2>>(grid, [&](const auto & p) { return 100.0 + 60.0 * value(p - centre); });
    fixed = MakeImage<ImageOf<2>>(grid, [&](const auto & p) {
      auto moved = p;
      for (unsigned int d = 0; d < 2; ++d)
      {
        moved[d] += 2.0 * along[d](p - centre);
      }
      return 100.0 + 60.0 * value(moved - centre);
    });
  }

  /** Registers the images by a multi-metric of a similarity and a penalty. */
  template <typename TMulti, typename TOptimizer>
  void
  Register(TMulti &                                             multi,
           TOptimizer &                                         optimizer,
           double                                               alpha,
           const std::vector<std::pair<unsigned int, double>> & levels,
           bool                                                 refines)
  {
    using RegistrationType = itk::ImageRegistrationMethodv4<ImageOf<2>, ImageOf<2>>;
    typename TMulti::WeightsArrayType weights(2);
    weights[0] = 1.0 - alpha;
    weights[1] = alpha;
    multi.SetMetricWeights(weights);
    spline = MakeSplineOver<3>(*fixed, refines ? 3 : 6);
    const auto registration = RegistrationType::New();
    SetUpRegistration(*registration, fixed, moving, spline, &multi, levels);
    registration->SetFixedImage(1, fixed);
    registration->SetMovingImage(1, moving);
    registration->SetOptimizer(&optimizer);
    // Rotated about the middle, as by a previous registration.
    const auto affine = itk::AffineTransform<double, 2>::New();
    affine->SetCenter(grid.GetCentre());
    affine->Rotate2D(0.01);
    registration->SetMovingInitialTransform(affine);
    if (refines)
    {
      registration->SetMetricSamplingStrategy(RegistrationType::MetricSamplingStrategyEnum::REGULAR);
      registration->SetMetricSamplingPercentage(0.5);
      registration->MetricSamplingReinitializeSeed(17);
      RegistrationType::TransformParametersAdaptorsContainerType adaptors;
      for (unsigned int level = 0; level < levels.size(); ++level)
      {
        const auto domain = MakeSplineOver<3>(*fixed, 3u << level);
        using AdaptorType = itk::BSplineTransformParametersAdaptor<SplineOf<2>>;
        const auto adaptor = AdaptorType::New();
        adaptor->SetTransform(spline);
        adaptor->SetRequiredTransformDomainMeshSize(domain->GetTransformDomainMeshSize());
        adaptor->SetRequiredTransformDomainOrigin(domain->GetTransformDomainOrigin());
        adaptor->SetRequiredTransformDomainDirection(domain->GetTransformDomainDirection());
        adaptor->SetRequiredTransformDomainPhysicalDimensions(domain->GetTransformDomainPhysicalDimensions());
        adaptors.push_back(adaptor.GetPointer());
      }
      registration->SetTransformParametersAdaptorsPerLevel(adaptors);
    }
    registration->Update();
  }
};
} // namespace

/** L-BFGS-B, which compares values along the derivative, finds the smallest weighted sum: the larger the penalty's weight, the less the
 *  spline bends, and no other weight's result has a smaller sum. */
TEST_P(BSplinePenaltyTest, RegistersByAWeightedSum)
{
  using SumType = itk::WeightedSumMultiMetricv4<2, 2, ImageOf<2>>;
  constexpr double    alphas[] = { 1e-6, 0.2, 0.8 };
  constexpr double    bendingUnit = 1e5;
  std::vector<double> similarities;
  std::vector<double> bendings;
  Deformed            images;
  double              atStart = 0;
  for (const double alpha : alphas)
  {
    const auto similarity = itk::GPUMeanSquaresImageToImageMetricv4<ImageOf<2>, ImageOf<2>>::New();
    similarity->SetDevice(GetDevice());
    const auto sum = SumType::New();
    sum->AddMetric(similarity);
    sum->AddMetric(MakePenalty<2>(GetDevice(), PenaltyKind::BendingEnergy, bendingUnit));
    const auto optimizer = itk::LBFGSBOptimizerv4::New();
    const auto count = MakeSplineOver<3>(*images.fixed, 6)->GetNumberOfParameters();
    optimizer->SetBoundSelection(itk::LBFGSBOptimizerv4::BoundSelectionType(count, 0));
    optimizer->SetLowerBound(itk::LBFGSBOptimizerv4::BoundValueType(count, 0.0));
    optimizer->SetUpperBound(itk::LBFGSBOptimizerv4::BoundValueType(count, 0.0));
    optimizer->SetCostFunctionConvergenceFactor(1e5);
    optimizer->SetGradientConvergenceTolerance(1e-8);
    optimizer->SetNumberOfIterations(100);
    optimizer->SetMaximumNumberOfFunctionEvaluations(200);
    images.Register(*sum, *optimizer, alpha, { { 1, 0.0 } }, false);
    double                  value = 0;
    SumType::DerivativeType derivative;
    sum->GetValueAndDerivative(value, derivative);
    EXPECT_NEAR(sum->GetValueArray()[1],
                bendingUnit * ComputeBending<2>(*images.spline),
                1e-6 * sum->GetValueArray()[1]);
    similarities.push_back(sum->GetValueArray()[0]);
    bendings.push_back(sum->GetValueArray()[1]);
    EXPECT_NEAR(value, (1.0 - alpha) * similarities.back() + alpha * bendings.back(), 1e-12 * value);
    // At the optimum the two gradients cancel, as far as ITK's gradient of an image is that of its interpolation.
    SumType::DerivativeType ofBending;
    sum->GetMetricQueue()[1]->GetDerivative(ofBending);
    const double left = derivative.magnitude() / (alpha * ofBending.magnitude());
    if (alpha > 0.1)
    {
      EXPECT_LT(left, 0.2);
    }
    images.spline->SetIdentity();
    atStart = similarity->GetValue();
    std::cout << "alpha " << alpha << ": mean squares " << similarities.back() << " of " << atStart << ", bending "
              << bendings.back() << ", left of the derivative " << left << std::endl;
  }
  for (std::size_t a = 0; a < 3; ++a)
  {
    EXPECT_LT(similarities[a], 0.5 * atStart);
    const auto sumOf = [&](std::size_t result) {
      return (1.0 - alphas[a]) * similarities[result] + alphas[a] * bendings[result];
    };
    for (std::size_t other = 0; other < 3; ++other)
    {
      EXPECT_LE(sumOf(a), sumOf(other) * (other == a ? 1.0 : 1.001))
        << "alpha " << alphas[a] << " and " << alphas[other];
    }
  }
  EXPECT_LT(bendings[1], 0.7 * bendings[0]);
  EXPECT_LT(bendings[2], 0.7 * bendings[1]);
  EXPECT_LT(similarities[0], similarities[1]);
  EXPECT_LT(similarities[1], similarities[2]);
}

/** ITK's own multi-metric, with gradient descent over samples, and a mesh that is refined from level to level. */
TEST_P(BSplinePenaltyTest, RegistersByItksMultiMetric)
{
  using MultiType = itk::ObjectToObjectMultiMetricv4<2, 2, ImageOf<2>>;
  std::vector<double> bendings;
  Deformed            images;
  for (const double alpha : { 0.01, 0.45 })
  {
    const auto similarity = OurMetric<float, 2>::New();
    similarity->SetDevice(GetDevice());
    similarity->SetNumberOfHistogramBins(24);
    const auto multi = MultiType::New();
    multi->AddMetric(similarity);
    multi->AddMetric(MakePenalty<2>(GetDevice(), PenaltyKind::BendingEnergy));
    const auto optimizer = MakeGradientDescent(multi, 30, 0.3);
    images.Register(*multi, *optimizer, alpha, { { 2, 1.0 }, { 1, 0.0 } }, true);
    EXPECT_EQ(images.spline->GetFixedParameters()[0], 9.0); // refined
    bendings.push_back(ComputeBending<2>(*images.spline));
    const double atEnd = similarity->GetValue();
    images.spline->SetIdentity();
    const double atStart = similarity->GetValue();
    std::cout << "alpha " << alpha << ": NMI " << atEnd << " from " << atStart << ", bending " << bendings.back()
              << std::endl;
    EXPECT_LT(atEnd, atStart - 0.03);
  }
  EXPECT_LT(bendings[1], 0.6 * bendings[0]);
}

INSTANTIATE_TEST_SUITE_P(Devices, BSplinePenaltyTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
