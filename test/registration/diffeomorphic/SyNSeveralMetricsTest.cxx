// SPDX-License-Identifier: Apache-2.0
// itk::GPUSyNImageRegistrationMethod with several metrics, each with its own images, on every device beside ITK's class.
#include "Listening.h"
#include "RegisterSyN.h"
#include "SyNCase.h"
#include "TestDevices.h"

#include "itkGPUError.h"
#include "itkGPUSyNImageRegistrationMethod.h"

#include "itkObjectToObjectMultiMetricv4.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;

template <typename TReal, unsigned int VDimension>
using ITKsMethod = itk::SyNImageRegistrationMethod<itk::Image<float, VDimension>,
                                                   itk::Image<float, VDimension>,
                                                   itk::DisplacementFieldTransform<TReal, VDimension>>;
template <typename TReal, unsigned int VDimension>
using OurMethod = itk::GPUSyNImageRegistrationMethod<itk::Image<float, VDimension>,
                                                     itk::Image<float, VDimension>,
                                                     itk::DisplacementFieldTransform<TReal, VDimension>>;

// As SyNMethodTest has them: voxels, and a share of the cost.
constexpr SyNDistance Most{ 1e-4, 1e-3, 1e-5 };

/** Several pairs of images, of which the first one has the settings of all but the metric. */
template <unsigned int VDimension>
std::vector<SyNCase<VDimension>>
MakeCases(const std::vector<SimilarityKind> & kinds)
{
  std::vector<SyNCase<VDimension>> cases;
  for (std::size_t n = 0; n < kinds.size(); ++n)
  {
    // The second pair has a grid of its own, and masks.
    auto grid = MakeGrid<VDimension>();
    if (n == 1)
    {
      const auto centre = grid.GetCentre();
      // With these numbers no voxel of the first grid lies on the boundary between two voxels of this grid, where rounding would choose
      // one.
      grid.size[0] -= 4;
      grid.spacing[0] *= 0.93;
      grid.spacing[1] *= 1.07;
      grid.SetCentre(centre);
    }
    auto its = MakeCase<VDimension>(kinds[n], 0, grid);
    if (n == 1)
    {
      AddMasks(its, grid);
    }
    its.settings.iterations = { 3, 4 };
    its.settings.similarity = { kinds[n], 20, 3 };
    its.settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
    its.settings.syn.smoothingSigmas = { 1.0, 0.0 };
    // Some values of each pair differ from those of the others.
    for (itk::ImageRegionIteratorWithIndex<itk::Image<float, VDimension>> it(its.fixed, its.fixed->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      it.Set(it.Get() + static_cast<float>(3 * n) * std::sin(0.5F * it.GetIndex()[1]));
    }
    cases.push_back(its);
  }
  return cases;
}

/** Sets up a method with one metric for each case. */
template <typename TMethod, unsigned int VDimension>
typename TMethod::MultiMetricType::Pointer
SetUpSeveral(TMethod & method, const std::vector<SyNCase<VDimension>> & cases, const std::vector<double> & weights)
{
  const auto several = TMethod::MultiMetricType::New();
  for (std::size_t n = 0; n < cases.size(); ++n)
  {
    const auto metric = MakeMetric<TMethod>(cases[n].settings.similarity);
    if (n == 0)
    {
      SetUpMethod(method, *metric, cases[n]);
    }
    else
    {
      SetMasks(*metric, cases[n]);
    }
    method.SetFixedImage(n, cases[n].fixed);
    method.SetMovingImage(n, cases[n].moving);
    several->AddMetric(metric);
  }
  if (!weights.empty())
  {
    typename TMethod::MultiMetricType::WeightsArrayType given(static_cast<unsigned int>(weights.size()));
    std::copy(weights.begin(), weights.end(), given.begin());
    several->SetMetricWeights(given);
  }
  method.SetMetric(several);
  return several;
}

template <typename TReal, unsigned int VDimension>
void
Compare(const std::string & device, const std::vector<SimilarityKind> & kinds, const std::vector<double> & weights)
{
  const auto cases = MakeCases<VDimension>(kinds);
  const auto itks = ITKsMethod<TReal, VDimension>::New();
  SetUpSeveral(*itks, cases, weights);
  const SyNResult expected = Register(*itks);
  const auto      method = OurMethod<TReal, VDimension>::New();
  method->SetDevice(itk::GPUDevice::FromName(device));
  SetUpSeveral(*method, cases, weights);
  const Listening   listening;
  const SyNResult   found = Register(*method);
  const std::string what = std::string(GetName(kinds[0])) + " and " + GetName(kinds[1]);
  EXPECT_TRUE(listening.window->said.empty()) << what;
  EXPECT_GT(method->GetEvaluationStatistics().launches, 0) << what;
  ASSERT_EQ(found.costs.size(), expected.costs.size()) << what;
  const SyNDistance distance = CompareResults(cases[0], found, expected);
  EXPECT_LE(distance.mean, Most.mean) << what;
  EXPECT_LE(distance.largest, Most.largest) << what;
  EXPECT_LE(distance.ofCost, Most.ofCost) << what;
  // All metrics count.
  const auto alone = ITKsMethod<TReal, VDimension>::New();
  SetUpMethod(*alone, *MakeMetric<ITKsMethod<TReal, VDimension>>(cases[0].settings.similarity), cases[0]);
  EXPECT_GT(CompareResults(cases[0], Register(*alone), expected).mean, 20 * Most.mean) << what;
}

class SyNSeveralMetricsTest : public DeviceTest
{};

constexpr SimilarityKind Neighbors = SimilarityKind::NeighborhoodCorrelation;
constexpr SimilarityKind Squares = SimilarityKind::MeanSquares;
constexpr SimilarityKind Mattes = SimilarityKind::MattesMutualInformation;
} // namespace

TEST_P(SyNSeveralMetricsTest, ComputesITKsResult2D)
{
  Compare<double, 2>(GetParam(), { Squares, Neighbors }, {});
  Compare<double, 2>(GetParam(), { Neighbors, Squares }, { 3.0, 1.0 });
}

TEST_P(SyNSeveralMetricsTest, ComputesITKsResult3D)
{
  Compare<double, 3>(GetParam(), { Squares, Neighbors }, { 0.4, 0.6 });
  Compare<double, 3>(GetParam(), { Neighbors, Mattes, Squares }, {});
}

TEST_P(SyNSeveralMetricsTest, RefusesAnObserversChangeOfWeights)
{
  const auto cases = MakeCases<2>({ Squares, Squares });
  const auto method = OurMethod<double, 2>::New();
  method->SetDevice(this->GetDevice());
  const auto several = SetUpSeveral(*method, cases, { 0.5, 0.5 });
  const auto tag = method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    auto weights = several->GetMetricWeights();
    weights[0] = 0.25;
    several->SetMetricWeights(weights);
  });
  EXPECT_THROW(method->Update(), itk::GPUUnsupportedError);
  method->RemoveObserver(tag);
  method->Update();
}

TEST_P(SyNSeveralMetricsTest, LeavesToITKWhatADeviceDoesNotCompute)
{
  const auto cases = MakeCases<2>({ Squares, Squares });
  const auto filter = [](auto & several) {
    using MetricType = typename OurMethod<double, 2>::ImageMetricType;
    dynamic_cast<MetricType &>(*several.GetMetricQueue()[1]).SetUseMovingImageGradientFilter(true);
  };
  const auto itks = ITKsMethod<double, 2>::New();
  filter(*SetUpSeveral(*itks, cases, {}));
  const SyNResult expected = Register(*itks);
  const auto      method = OurMethod<double, 2>::New();
  method->SetDevice(this->GetDevice());
  filter(*SetUpSeveral(*method, cases, {}));
  const Listening listening;
  const SyNResult found = Register(*method);
  EXPECT_EQ(listening.window->Count("filters gradients"), 1U);
  EXPECT_LE(CompareResults(cases[0], found, expected).largest, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Devices, SyNSeveralMetricsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
