// SPDX-License-Identifier: Apache-2.0
// Tests CudaMattesNMI with float as TInternalComputationValueType, where a program names it: with optimizers and transforms of float.
// ImageRegistrationMethodv4 with a transform of float casts its metric to the class of that scalar.
#include "ErrorOfRecord.h"
#include "RegistrationSetUp.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "itkEuler3DTransform.h"
#include "itkImageRegistrationMethodv4.h"

// Instantiates every member, also those that no test calls.
template class itk::CudaMattesNMI<itk::Image<float, 2>, itk::Image<float, 2>, itk::Image<float, 2>, float>;
template class itk::CudaMattesNMI<itk::Image<float, 3>, itk::Image<float, 3>, itk::Image<float, 3>, float>;

namespace gpuregtest
{

namespace
{
using ImageType = itk::Image<float, 3>;
using TransformType = itk::Euler3DTransform<float>;
using MetricType = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType, ImageType, float>;
using OurType = itk::CudaMattesNMI<ImageType, ImageType, ImageType, float>;

class FloatRegistrationTest : public DeviceTest
{
protected:
  FloatRegistrationTest()
  {
    m_Grid.size.Fill(26);
    m_Grid.size[1] += 3;
    m_Grid.spacing[1] = 1.2;
    m_Grid.origin.Fill(-10.0);
    std::tie(m_Fixed, m_Moving) = MakeImagePair<ImageType>(m_Grid, m_Grid, 13);
  }

  OurType::Pointer
  MakeOurs(bool isNormalized) const
  {
    const auto metric = OurType::New();
    metric->SetDevice(GetDevice());
    metric->SetNormalized(isNormalized);
    return metric;
  }

  /** Returns the point to which the corner is moved. */
  TransformType::OutputPointType
  Register(MetricType & metric) const
  {
    const auto                    transform = TransformType::New();
    TransformType::InputPointType centre;
    centre.CastFrom(m_Grid.GetCentre());
    transform->SetCenter(centre);
    transform->SetRotation(0.05f, -0.04f, 0.06f);
    const float offset[] = { 1.5f, -1.2f, 0.8f };
    transform->SetTranslation(TransformType::OutputVectorType(offset));
    metric.SetNumberOfHistogramBins(20);
    const auto                registration = itk::ImageRegistrationMethodv4<ImageType, ImageType, TransformType>::New();
    const MetricType::Pointer pointer = &metric;
    SetUpRegistration(*registration, m_Fixed, m_Moving, transform, pointer, { { 1, 0.0 } });
    registration->SetOptimizer(MakeGradientDescent(pointer, 25, 0.3f));
    registration->Update();
    return transform->TransformPoint(GetCorner());
  }

  TransformType::InputPointType
  GetCorner() const
  {
    TransformType::InputPointType corner;
    corner.CastFrom(m_Grid.origin);
    return corner;
  }

private:
  Grid<3>            m_Grid;
  ImageType::Pointer m_Fixed;
  ImageType::Pointer m_Moving;
};
} // namespace

/** The images are aligned from the start: the true transform is the identity. */
TEST_P(FloatRegistrationTest, EndsWhereITKsDoes)
{
  const auto corner = GetCorner();
  const auto ours = Register(*MakeOurs(false));
  const auto itks = Register(*MetricType::New());
  EXPECT_TRUE(IsWithinRecord(GetParam(), ours.EuclideanDistanceTo(itks), 1.01e-4));
  EXPECT_TRUE(IsWithinRecord(GetParam(), itks.EuclideanDistanceTo(corner), 0.14));
  EXPECT_TRUE(IsWithinRecord(GetParam(), ours.EuclideanDistanceTo(corner), 0.14));
  EXPECT_TRUE(IsWithinRecord(GetParam(), Register(*MakeOurs(true)).EuclideanDistanceTo(corner), 0.14));
}

INSTANTIATE_TEST_SUITE_P(Devices, FloatRegistrationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
