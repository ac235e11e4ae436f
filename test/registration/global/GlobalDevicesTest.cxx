// SPDX-License-Identifier: Apache-2.0
// Tests that a global search finds the same transform on every device, except for rounding: not just an equally good one.
#include "GlobalProblem.h"
#include "TestDevices.h"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
constexpr double Degrees = Pi / 180;

class GlobalDevicesTest : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    if (GetParam() == "host")
    {
      GTEST_SKIP() << "the host is what others are compared with";
    }
  }
};

/** Returns the largest distance, in mm, between a corner of the phantom's bounding box mapped by two transforms. */
template <unsigned int VDimension>
double
ComputeFarthest(const GlobalProblem<VDimension> &                         problem,
                const typename GlobalProblem<VDimension>::TransformType & one,
                const typename GlobalProblem<VDimension>::TransformType & other)
{
  double farthest = 0;
  for (unsigned int corner = 0; corner < 1u << VDimension; ++corner)
  {
    auto point = problem.grid.GetCentre();
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      point[d] += (corner >> d & 1 ? 1 : -1) * Phantom<VDimension>::halfAxes[d];
    }
    farthest = std::max(farthest, one.TransformPoint(point).EuclideanDistanceTo(other.TransformPoint(point)));
  }
  return farthest;
}

/** Searches on the host and on a device. \return the largest distance between the two transforms, mm. */
template <unsigned int VDimension>
double
ComputeDistance(const GlobalProblem<VDimension> & problem,
                const std::string &               device,
                const std::string &               cost,
                unsigned int                      degreesOfFreedom,
                double                            angle)
{
  SCOPED_TRACE(cost + ", " + std::to_string(degreesOfFreedom) + " degrees of freedom");
  const auto search = [&](const std::string & name) {
    const auto method = problem.MakeMethod(name);
    method->SetCost(cost);
    method->SetDegreesOfFreedom(degreesOfFreedom);
    method->SetSearchAngles(-angle, angle);
    method->Update();
    return method;
  };
  const auto   onHost = search("host");
  const auto   onDevice = search(device);
  const double distance = ComputeFarthest(problem, *onHost->GetTransform(), *onDevice->GetTransform());
  // A search ends where the cost's last digits hide its slope. The farthest of 15 searches by PoCL ends 0.0044 voxels from the host's.
  EXPECT_LT(distance, 0.01 * problem.grid.spacing[1]);
  // Both results are equally good.
  EXPECT_NEAR(onDevice->GetFinalCost(), onHost->GetFinalCost(), 1e-5);
  return distance;
}

/** Expects most searches to end at the same place, except for rounding: of PoCL's searches in 2D most end 2e-8 to 1e-5 mm from the host's,
 *  and the median of three in 3D 4e-4 mm. \param most the largest median, mm */
void
ExpectMostAreTheSame(std::vector<double> distances, double most)
{
  std::sort(distances.begin(), distances.end());
  EXPECT_LT(distances[distances.size() / 2], most);
}
} // namespace

TEST_P(GlobalDevicesTest, TransformsAreTheHostsIn3D)
{
  std::vector<double> distances;
  for (const unsigned int degrees : { 6u, 9u })
  {
    const GlobalProblem<3> problem(degrees, 16 * Degrees);
    distances.push_back(ComputeDistance(problem, GetParam(), "CorrelationRatio", degrees, 20));
  }
  const GlobalProblem<3> far(12, 130 * Degrees);
  distances.push_back(ComputeDistance(far, GetParam(), "CorrelationRatio", 12, 180));
  ExpectMostAreTheSame(distances, 2e-4 * far.grid.spacing[1]);
}

TEST_P(GlobalDevicesTest, TransformsAreTheHostsByEachCostIn2D)
{
  using ProblemType = GlobalProblem<2>;
  std::vector<double> distances;
  for (const char * const cost : { "CorrelationRatio",
                                   "MattesMutualInformation",
                                   "NormalizedMutualInformation",
                                   "Correlation",
                                   "MeanSquares",
                                   "MeanAbsoluteDifferences" })
  {
    for (const unsigned int degrees : { 6u, 9u })
    {
      const ProblemType problem(degrees, 100 * Degrees, ProblemType::Contrast::Same);
      distances.push_back(ComputeDistance(problem, GetParam(), cost, degrees, 180));
    }
  }
  ExpectMostAreTheSame(distances, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Devices, GlobalDevicesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
