// SPDX-License-Identifier: Apache-2.0
// Observers of itk::GPUSyNImageRegistrationMethod that change its inputs: none of these changes is ignored.
#include "Listening.h"
#include "RegisterSyN.h"
#include "SyNCase.h"
#include "TestDevices.h"

#include "itkGPUError.h"
#include "itkGPURegistrationFactory.h"
#include "itkGPUSyNImageRegistrationMethod.h"

#include "itkCompositeTransform.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;
using ImageType = itk::Image<float, 3>;
using ITKsMethod = itk::SyNImageRegistrationMethod<ImageType, ImageType>;
using OurMethod = itk::GPUSyNImageRegistrationMethod<ImageType, ImageType>;
using MaskType = itk::ImageMaskSpatialObject<3>;

constexpr SyNDistance Most{ 1e-4, 1e-3, 1e-5 };

/** Changes a method's input at an event. */
using Change = std::function<void(ITKsMethod &)>;

SyNCase<3>
MakeTwoLevels()
{
  auto its = MakeCase<3>(SimilarityKind::MeanSquares, 0);
  AddMasks(its);
  its.settings.iterations = { 3, 2 };
  its.settings.step = 0.3;
  its.settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
  its.fixedInitial = itk::AffineTransform<double, 3>::New();
  its.initial = itk::AffineTransform<double, 3>::New();
  return its;
}

/** Makes a change at the first event of a level, or at an iteration of it. */
void
MakeAt(ITKsMethod & method, itk::SizeValueType level, itk::SizeValueType iteration, const Change & change)
{
  method.AddObserver(itk::IterationEvent(), [&method, level, iteration, change](const itk::EventObject &) {
    if (method.GetCurrentLevel() == level && method.GetCurrentIteration() == iteration)
    {
      change(method);
    }
  });
}

template <typename TMethod>
typename TMethod::Pointer
MakeMethod(const SyNCase<3> & its)
{
  const auto method = TMethod::New();
  SetUpMethod(*method, *MakeMetric<TMethod>(its.settings.similarity), its);
  return method;
}

/** Returns a new image of one value.
 *  \param shrink a number by which each axis has fewer voxels. */
ImageType::Pointer
MakeOther(const ImageType & image, itk::SizeValueType shrink)
{
  auto region = image.GetLargestPossibleRegion();
  for (unsigned int d = 0; d < 3; ++d)
  {
    region.SetSize(d, region.GetSize(d) - shrink);
  }
  const auto other = ImageType::New();
  other->CopyInformation(&image);
  other->SetRegions(region);
  other->Allocate();
  other->FillBuffer(1);
  return other;
}

/** Sets a part of an image to one value, and changes no time stamp. */
void
WriteInto(const ImageType & image)
{
  std::fill_n(const_cast<ImageType &>(image).GetBufferPointer(),
              image.GetBufferedRegion().GetNumberOfPixels() / 2,
              90.0F);
}

/** Doubles the vectors of a middle transform's field, and changes no time stamp. */
void
WriteInto(ITKsMethod::OutputTransformType & transform)
{
  auto & field = *transform.GetModifiableDisplacementField();
  std::for_each(field.GetBufferPointer(),
                field.GetBufferPointer() + field.GetBufferedRegion().GetNumberOfPixels(),
                [](auto & vector) { vector *= 2; });
}

ITKsMethod::ImageMetricType &
GetMetric(ITKsMethod & method)
{
  return dynamic_cast<ITKsMethod::ImageMetricType &>(*method.GetModifiableMetric());
}

void
ExpectWithin(const SyNCase<3> & its, const SyNResult & found, const SyNResult & expected)
{
  ASSERT_EQ(found.fields[0].size(), expected.fields[0].size());
  const SyNDistance distance = CompareResults(its, found, expected);
  EXPECT_LE(distance.mean, Most.mean);
  EXPECT_LE(distance.largest, Most.largest);
  EXPECT_LE(distance.ofCost, Most.ofCost);
}

/** Returns what a method hands out as constant. */
template <typename TObject>
TObject &
Unlock(const TObject * object)
{
  return const_cast<TObject &>(*object);
}

class SyNObserverTest : public DeviceTest
{
protected:
  OurMethod::Pointer
  MakeOurs(const SyNCase<3> & its)
  {
    const auto method = MakeMethod<OurMethod>(its);
    method->SetDevice(this->GetDevice());
    return method;
  }

  /** Makes ITK's class where ours overrides it. */
  ITKsMethod::Pointer
  MakeOverride(const SyNCase<3> & its)
  {
    itk::GPUDevice::SetDefault(this->GetDevice());
    itk::GPURegistrationFactory::RegisterClass("SyNImageRegistrationMethod");
    const auto method = MakeMethod<ITKsMethod>(its);
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
    return method;
  }
};
} // namespace

TEST_P(SyNObserverTest, RefusesOtherInputs)
{
  struct Named
  {
    const char * name;
    Change       change;
  };
  const std::vector<Named> all{
    { "fixed image", [](ITKsMethod & method) { method.SetFixedImage(MakeOther(*method.GetFixedImage(), 0)); } },
    { "smaller fixed image", [](ITKsMethod & method) { method.SetFixedImage(MakeOther(*method.GetFixedImage(), 9)); } },
    { "moving image", [](ITKsMethod & method) { method.SetMovingImage(MakeOther(*method.GetMovingImage(), 0)); } },
    { "moved image",
      [](ITKsMethod & method) {
        auto               origin = method.GetFixedImage()->GetOrigin();
        origin[0] += 1;
        Unlock(method.GetFixedImage()).SetOrigin(origin);
      } },
    { "pixels", [](ITKsMethod & method) { Unlock(method.GetMovingImage()).Modified(); } },
    { "mask's voxels",
      [](ITKsMethod & method) {
        Unlock(dynamic_cast<const MaskType &>(*GetMetric(method).GetFixedImageMask()).GetImage()).Modified();
      } },
    { "no mask",
      [](ITKsMethod & method) { GetMetric(method).SetMovingImageMask(static_cast<const MaskType *>(nullptr)); } },
    { "fixed initial transform",
      [](ITKsMethod & method) {
        const auto         transform = itk::AffineTransform<double, 3>::New();
        transform->Scale(1.1);
        method.SetFixedInitialTransform(transform);
      } },
    { "moving initial transform in place",
      [](ITKsMethod & method) {
        dynamic_cast<itk::AffineTransform<double, 3> &>(Unlock(method.GetMovingInitialTransform())).Scale(1.1);
      } },
    { "middle field in place",
      [](ITKsMethod & method) {
        WriteInto(*method.GetModifiableFixedToMiddleTransform());
        method.GetModifiableFixedToMiddleTransform()->GetModifiableDisplacementField()->Modified();
      } },
    { "middle field's inverse",
      [](ITKsMethod & method) {
        auto &             transform = *method.GetModifiableMovingToMiddleTransform();
        transform.SetInverseDisplacementField(transform.GetModifiableDisplacementField());
      } },
    { "middle transform",
      [](ITKsMethod & method) { method.SetMovingToMiddleTransform(method.GetModifiableFixedToMiddleTransform()); } },
  };
  const auto its = MakeTwoLevels();
  for (const Named & one : all)
  {
    // When the second level begins, and after an iteration.
    for (const itk::SizeValueType level : { 1, 0 })
    {
      const auto   method = this->MakeOurs(its);
      unsigned int calls = 0;
      MakeAt(*method, level, level == 1 ? 0 : 2, [&](ITKsMethod & its) {
        one.change(its);
        ++calls;
      });
      EXPECT_THROW(method->Update(), itk::GPUUnsupportedError) << one.name << " at level " << level;
      EXPECT_EQ(calls, 1U) << one.name;
    }
  }
}

/** Observers that read everything, and hold what they read. */
TEST_P(SyNObserverTest, LetsObserversRead)
{
  const auto                                            its = MakeTwoLevels();
  const auto                                            method = this->MakeOurs(its);
  std::vector<ITKsMethod::OutputTransformType::Pointer> held;
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    if (method->GetCurrentIteration() > 0)
    {
      held = { method->GetModifiableFixedToMiddleTransform(), method->GetModifiableMovingToMiddleTransform() };
      held.front()->GetInverseTransform();
      method->GetFixedInitialTransform()->TransformPoint(method->GetFixedImage()->GetOrigin());
      GetMetric(*method).GetFixedImageMask()->IsInsideInWorldSpace(method->GetFixedImage()->GetOrigin());
    }
  });
  ExpectWithin(its, Register(*method), RegisterByITK(its));
}

/** Before the first level ITK has read nothing, and the device neither. */
TEST_P(SyNObserverTest, FollowsChangesOfInputsAtTheFirstEvent)
{
  const auto its = MakeTwoLevels();
  // Middle transforms from which a registration continues.
  const auto before = MakeMethod<ITKsMethod>(its);
  before->Update();
  const std::vector<Change> all{
    [](ITKsMethod & method) { WriteInto(*method.GetMovingImage()); },
    [](ITKsMethod & method) {
      dynamic_cast<itk::AffineTransform<double, 3> &>(Unlock(method.GetMovingInitialTransform())).Scale(1.05);
    },
    [&](ITKsMethod & method) {
      // A registration gives its transforms other fields, and leaves these.
      const auto            copy = [](ITKsMethod::OutputTransformType & transform) {
        const auto copied = ITKsMethod::OutputTransformType::New();
        copied->SetDisplacementField(transform.GetModifiableDisplacementField());
        copied->SetInverseDisplacementField(transform.GetModifiableInverseDisplacementField());
        return copied;
      };
      method.SetFixedToMiddleTransform(copy(*before->GetModifiableFixedToMiddleTransform()));
      method.SetMovingToMiddleTransform(copy(*before->GetModifiableMovingToMiddleTransform()));
    }
  };
  const SyNResult unchanged = RegisterByITK(its);
  for (const Change & change : all)
  {
    const auto run = [&](ITKsMethod & method) {
      bool isMade = false;
      method.AddObserver(itk::MultiResolutionIterationEvent(), [&](const itk::EventObject &) {
        if (!isMade)
        {
          isMade = true;
          change(method);
        }
      });
      return Register(method);
    };
    const SyNResult expected = run(*MakeMethod<ITKsMethod>(its));
    const Listening listening;
    ExpectWithin(its, run(*this->MakeOurs(its)), expected);
    EXPECT_EQ(listening.window->Count("on the host"), 0U);
    EXPECT_GT(CompareResults(its, unchanged, expected).mean, 0.01);
  }
}

/** An override compares values, and begins again with ITK's code, which sees what the observer has written. */
TEST_P(SyNObserverTest, AnOverrideSeesWhatIsWrittenWithoutATimeStamp)
{
  const auto                its = MakeTwoLevels();
  const std::vector<Change> all{ [](ITKsMethod & method) { WriteInto(*method.GetMovingImage()); },
                                 [](ITKsMethod & method) {
                                   WriteInto(*method.GetModifiableFixedToMiddleTransform());
                                 } };
  for (std::size_t n = 0; n < all.size(); ++n)
  {
    for (const itk::SizeValueType level : { 0, 1 })
    {
      const auto itks = MakeMethod<ITKsMethod>(its);
      if (n == 0)
      {
        // Where ITK's code begins again, the image has been written.
        all[n](*itks);
      }
      MakeAt(*itks, level, 1, all[n]);
      const SyNResult expected = Register(*itks);
      const auto      method = this->MakeOverride(its);
      MakeAt(*method, level, 1, all[n]);
      const Listening listening;
      const SyNResult found = Register(*method);
      EXPECT_EQ(listening.window->Count("an observer has changed"), 1U) << n;
      EXPECT_EQ(found.fields, expected.fields) << n << ' ' << level;
    }
  }
}

/** An override on which nobody writes computes on its device. */
TEST_P(SyNObserverTest, AnOverrideComputesForObserversThatRead)
{
  const auto its = MakeTwoLevels();
  const auto method = this->MakeOverride(its);
  MakeAt(*method, 0, 1, [](ITKsMethod & its) { its.GetModifiableFixedToMiddleTransform()->GetDisplacementField(); });
  const Listening listening;
  ExpectWithin(its, Register(*method), RegisterByITK(its));
  EXPECT_TRUE(listening.window->said.empty());
}

INSTANTIATE_TEST_SUITE_P(Devices, SyNObserverTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
