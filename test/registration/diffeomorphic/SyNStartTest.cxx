// SPDX-License-Identifier: Apache-2.0
// itk::GPUSyNImageRegistrationMethod from initial transforms that are not linear, on every device beside ITK's class.
#include "BentTransform.h"
#include "Listening.h"
#include "RegisterSyN.h"
#include "SyNCase.h"
#include "TestDevices.h"
#include "TestSplines.h"

#include "itkGPUSyNImageRegistrationMethod.h"

#include "itkCompositeTransform.h"

#include <functional>
#include <map>
#include <string>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;

constexpr SyNDistance Most{ 1e-4, 1e-3, 1e-5 };

template <unsigned int VDimension>
using ITKsMethod = itk::SyNImageRegistrationMethod<itk::Image<float, VDimension>, itk::Image<float, VDimension>>;
template <unsigned int VDimension>
using OurMethod = itk::GPUSyNImageRegistrationMethod<itk::Image<float, VDimension>, itk::Image<float, VDimension>>;
template <unsigned int VDimension>
using TransformPointer = typename itk::Transform<double, VDimension, VDimension>::Pointer;

/** The initial transforms of a registration; null for none. */
template <unsigned int VDimension>
struct Starts
{
  TransformPointer<VDimension> fixed;
  TransformPointer<VDimension> moving;
};

/** Returns a displacement field over an image and 6 voxels around it, on a grid of other voxels. */
template <unsigned int VDimension>
TransformPointer<VDimension>
MakeField(double largest)
{
  using FieldTransform = itk::DisplacementFieldTransform<double, VDimension>;
  Grid<VDimension> grid = MakeGrid<VDimension>();
  const auto       centre = grid.GetCentre();
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = static_cast<itk::SizeValueType>((grid.size[d] + 12) / 1.7);
    grid.spacing[d] *= 1.7;
  }
  grid.direction = MakeRotation<VDimension>(0.2);
  grid.SetCentre(centre);
  const auto like = MakeImage<itk::Image<float, VDimension>>(grid, [](const auto &) { return 0.0; });
  const auto field = FieldTransform::DisplacementFieldType::New();
  field->CopyInformation(like);
  field->SetRegions(like->GetBufferedRegion());
  field->Allocate(true);
  itk::ImageRegionIteratorWithIndex<typename FieldTransform::DisplacementFieldType> it(field,
                                                                                       field->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    const auto p = field->template TransformIndexToPhysicalPoint<double>(it.GetIndex()) - centre;
    auto       vector = it.Get();
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      vector[d] = largest * std::sin(0.25 * p[(d + 1) % VDimension] + d);
    }
    it.Set(vector);
  }
  const auto transform = FieldTransform::New();
  transform->SetDisplacementField(field);
  return transform.GetPointer();
}

template <unsigned int VDimension>
TransformPointer<VDimension>
MakeSpline(const SyNCase<VDimension> & its)
{
  return MakeRandomSpline<3>(*its.fixed, 4, 1.2, 8).GetPointer();
}

/** Returns a B-spline, a linear map and a field, applied in this order. */
template <unsigned int VDimension>
TransformPointer<VDimension>
MakeComposite(const SyNCase<VDimension> & its)
{
  const auto affine = itk::AffineTransform<double, VDimension>::New();
  affine->SetCenter(MakeGrid<VDimension>().GetCentre());
  affine->Rotate(0, 1, 0.04);
  affine->Scale(1.02);
  const auto composite = itk::CompositeTransform<double, VDimension>::New();
  composite->AddTransform(MakeField<VDimension>(0.8));
  composite->AddTransform(affine);
  composite->AddTransform(MakeSpline(its));
  return composite.GetPointer();
}

template <typename TMethod, unsigned int VDimension>
typename TMethod::Pointer
MakeMethod(const SyNCase<VDimension> & its, const Starts<VDimension> & starts)
{
  const auto method = TMethod::New();
  SetUpMethod(*method, *MakeMetric<TMethod>(its.settings.similarity), its);
  if (starts.fixed)
  {
    method->SetFixedInitialTransform(starts.fixed);
  }
  if (starts.moving)
  {
    method->SetMovingInitialTransform(starts.moving);
  }
  return method;
}

class SyNStartTest : public DeviceTest
{
protected:
  template <unsigned int VDimension>
  void
  Compare(const SyNCase<VDimension> & its, const Starts<VDimension> & starts, const std::string & what)
  {
    static std::map<std::string, SyNResult> byITK;
    const std::string                       name = std::to_string(VDimension) + "D, " + what;
    if (byITK.count(name) == 0)
    {
      byITK[name] = Register(*MakeMethod<ITKsMethod<VDimension>>(its, starts));
    }
    const auto      method = MakeMethod<OurMethod<VDimension>>(its, starts);
    const Listening listening;
    method->SetDevice(this->GetDevice());
    const SyNResult found = Register(*method);
    EXPECT_GT(method->GetEvaluationStatistics().launches, 0) << name;
    EXPECT_TRUE(listening.window->said.empty()) << name;
    ASSERT_EQ(found.costs.size(), byITK[name].costs.size()) << name;
    const SyNDistance distance = CompareResults(its, found, byITK[name]);
    EXPECT_LE(distance.mean, Most.mean) << name;
    EXPECT_LE(distance.largest, Most.largest) << name;
    EXPECT_LE(distance.ofCost, Most.ofCost) << name;
    EXPECT_GT(CompareResults(its, found, Register(*MakeMethod<OurMethod<VDimension>>(its, Starts<VDimension>{}))).mean,
              0.01)
      << name;
  }

  template <unsigned int VDimension>
  void
  CompareSides()
  {
    auto its = MakeCase<VDimension>(SimilarityKind::NeighborhoodCorrelation, 4);
    this->Compare<VDimension>(its, { nullptr, MakeField<VDimension>(1.1) }, "a field");
    this->Compare<VDimension>(its, { MakeSpline(its), nullptr }, "a B-spline of the fixed image");
    AddMasks(its);
    for (const SimilarityKind kind : AllKinds)
    {
      its.settings.similarity.kind = kind;
      this->Compare<VDimension>(its, { MakeField<VDimension>(0.6), MakeComposite(its) }, GetName(kind));
    }
  }
};
} // namespace

TEST_P(SyNStartTest, ComputesITKsFields2D)
{
  this->CompareSides<2>();
}

TEST_P(SyNStartTest, ComputesITKsFields3D)
{
  this->CompareSides<3>();
}

TEST_P(SyNStartTest, GoesThroughLevels)
{
  auto its = MakeCase<3>(SimilarityKind::MeanSquares, 0);
  its.settings.iterations = { 4, 3 };
  its.settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
  its.settings.syn.smoothingSigmas = { 1.0, 0.0 };
  this->Compare<3>(its, { MakeSpline(its), MakeComposite(its) }, "levels");
}

TEST_P(SyNStartTest, LeavesOtherTransformsToITK)
{
  const auto its = MakeCase<3>(SimilarityKind::MeanSquares, 2);
  const auto bent = BentTransform<3>::New();
  const auto method = MakeMethod<OurMethod<3>>(its, { nullptr, bent.GetPointer() });
  method->SetDevice(this->GetDevice());
  const Listening listening;
  const SyNResult found = Register(*method);
  EXPECT_EQ(listening.window->Count("is not made of linear transforms, B-splines and displacement fields"), 1U);
  const SyNResult expected = Register(*MakeMethod<ITKsMethod<3>>(its, { nullptr, bent.GetPointer() }));
  EXPECT_LE(CompareResults(its, found, expected).largest, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Devices, SyNStartTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
