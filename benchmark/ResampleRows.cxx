// SPDX-License-Identifier: Apache-2.0
// Defines the functions of ResampleCases.h and ResampleRows.h in one file, for the sake of ITK's times: if a compiler sees a single class
// of transforms or of interpolators, it takes that to be the likely one in the loops of ITK's filter.
#include "ResampleRows.h"

#include "ImageDifference.h"
#include "KernelTime.h"
#include "ResampleWork.h"
#include "UpdateAgain.h"

#include "itkGPUResampleImageFilter.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkSimilarity3DTransform.h"
#include "itkThinPlateSplineKernelTransform.h"
#include "itkTranslationTransform.h"
#include "itkVersorRigid3DTransform.h"

#include <array>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace bench
{
namespace
{

itk::Vector<double, 3>
MakeMove()
{
  itk::Vector<double, 3> move;
  move.Fill(2.3);
  return move;
}

itk::Vector<double, 3>
MakeAxis()
{
  itk::Vector<double, 3> axis;
  axis[0] = 0.2;
  axis[1] = -0.4;
  axis[2] = 0.9;
  return axis;
}

constexpr double Angle = 0.17;
constexpr double Scale = 1.03;

template <typename TTransform>
typename TTransform::Pointer
MakeAboutTheMiddle(unsigned int size)
{
  auto                  transform = TTransform::New();
  itk::Point<double, 3> centre;
  centre.Fill(0.5 * size);
  transform->SetCenter(centre);
  return transform;
}

TransformType::Pointer
MakeTranslation()
{
  auto transform = itk::TranslationTransform<double, 3>::New();
  transform->SetOffset(MakeMove());
  return transform.GetPointer();
}

TransformType::Pointer
MakeRigid(unsigned int size)
{
  auto transform = MakeAboutTheMiddle<itk::VersorRigid3DTransform<double>>(size);
  transform->SetRotation(MakeAxis(), Angle);
  transform->SetTranslation(MakeMove());
  return transform.GetPointer();
}

TransformType::Pointer
MakeSimilarity(unsigned int size)
{
  auto transform = MakeAboutTheMiddle<itk::Similarity3DTransform<double>>(size);
  transform->SetRotation(MakeAxis(), Angle);
  transform->SetScale(Scale);
  transform->SetTranslation(MakeMove());
  return transform.GetPointer();
}

TransformType::Pointer
MakeAffine(unsigned int size)
{
  auto transform = MakeAboutTheMiddle<itk::AffineTransform<double, 3>>(size);
  transform->Rotate3D(MakeAxis(), Angle);
  transform->Scale(Scale);
  transform->Shear(0, 1, 0.05);
  transform->Translate(MakeMove());
  return transform.GetPointer();
}

/** Returns a cubic B-spline with control points this number of voxels apart. */
TransformType::Pointer
MakeSpline(unsigned int size, double spacing)
{
  auto                                                        transform = itk::BSplineTransform<double, 3, 3>::New();
  itk::BSplineTransform<double, 3, 3>::PhysicalDimensionsType dimensions;
  dimensions.Fill(size);
  itk::BSplineTransform<double, 3, 3>::MeshSizeType mesh;
  mesh.Fill(static_cast<itk::SizeValueType>(std::ceil(size / spacing)));
  transform->SetTransformDomainPhysicalDimensions(dimensions);
  transform->SetTransformDomainMeshSize(mesh);
  itk::BSplineTransform<double, 3, 3>::ParametersType parameters(transform->GetNumberOfParameters());
  std::mt19937                                        random(7);
  for (auto & parameter : parameters)
  {
    parameter = (random() / 4294967296.0 - 0.5) * 0.6 * spacing;
  }
  transform->SetParametersByValue(parameters);
  return transform.GetPointer();
}

TransformType::Pointer
MakeField(unsigned int size)
{
  using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
  auto field = FieldTransformType::DisplacementFieldType::New();
  field->SetRegions(itk::Size<3>{ { size, size, size } });
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<FieldTransformType::DisplacementFieldType> it(field,
                                                                                       field->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    itk::Vector<double, 3> vector;
    for (unsigned int d = 0; d < 3; ++d)
    {
      vector[d] = 4 * std::sin(0.05 * static_cast<double>(it.GetIndex()[(d + 1) % 3]));
    }
    it.Set(vector);
  }
  auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform.GetPointer();
}

/** Returns a thin plate spline, which no device has, through eight landmarks, half-way between the middle and the corners. */
TransformType::Pointer
MakeThinPlate(unsigned int size)
{
  using ThinPlateType = itk::ThinPlateSplineKernelTransform<double, 3>;
  auto         sources = ThinPlateType::PointSetType::New();
  auto         targets = ThinPlateType::PointSetType::New();
  std::mt19937 random(8);
  for (unsigned int n = 0; n < 8; ++n)
  {
    ThinPlateType::InputPointType point;
    for (unsigned int d = 0; d < 3; ++d)
    {
      point[d] = ((n >> d & 1) != 0 ? 0.75 : 0.25) * size;
    }
    sources->SetPoint(n, point);
    for (unsigned int d = 0; d < 3; ++d)
    {
      point[d] += (random() / 4294967296.0 - 0.5) * 8;
    }
    targets->SetPoint(n, point);
  }
  auto transform = ThinPlateType::New();
  transform->SetSourceLandmarks(sources);
  transform->SetTargetLandmarks(targets);
  transform->ComputeWMatrix();
  return transform.GetPointer();
}

itk::InterpolateImageFunction<ImageType, double>::Pointer
MakeInterpolator(const std::string & name)
{
  if (name == "nearest")
  {
    return itk::NearestNeighborInterpolateImageFunction<ImageType, double>::New().GetPointer();
  }
  if (name == "linear")
  {
    return itk::LinearInterpolateImageFunction<ImageType, double>::New().GetPointer();
  }
  return itk::BSplineInterpolateImageFunction<ImageType, double, double>::New().GetPointer();
}

template <typename TFilter>
void
SetUp(TFilter & filter, const LoadedResampleCase & loaded)
{
  filter.SetInput(loaded.image);
  filter.SetTransform(loaded.transform);
  filter.SetInterpolator(MakeInterpolator(loaded.interpolator));
  filter.SetOutputParametersFromImage(loaded.image);
}

template <typename TFilter>
void
Update(benchmark::State & state, TFilter & filter, const LoadedResampleCase & loaded)
{
  if (loaded.isTransformNew)
  {
    loaded.transform->Modified();
  }
  UpdateAgain(state, filter, *loaded.image);
}

const ImageType &
GetExpected(LoadedResampleCase & loaded)
{
  if (!loaded.expected)
  {
    auto filter = itk::ResampleImageFilter<ImageType, ImageType>::New();
    SetUp(*filter, loaded);
    filter->Update();
    loaded.expected = filter->GetOutput();
  }
  return *loaded.expected;
}

} // namespace

ImageType::Pointer
MakeCube(unsigned int size)
{
  std::array<std::vector<double>, 3> waves;
  for (unsigned int d = 0; d < 3; ++d)
  {
    for (unsigned int i = 0; i < size; ++i)
    {
      waves[d].push_back(150 * std::sin(25.0 * i / size + d));
    }
  }
  auto image = ImageType::New();
  image->SetRegions(itk::Size<3>{ { size, size, size } });
  image->Allocate();
  std::mt19937 random(2014);
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    const auto   index = it.GetIndex();
    const double wave = 500 + waves[0][index[0]] + waves[1][index[1]] + waves[2][index[2]];
    it.Set(static_cast<float>(wave + random() * (20.0 / 4294967296.0)));
  }
  return image;
}

TransformType::Pointer
MakeTransform(const std::string & name, unsigned int size)
{
  if (name == "translation")
  {
    return MakeTranslation();
  }
  if (name == "rigid")
  {
    return MakeRigid(size);
  }
  if (name == "similarity")
  {
    return MakeSimilarity(size);
  }
  if (name == "affine")
  {
    return MakeAffine(size);
  }
  if (name == "bspline")
  {
    return MakeSpline(size, 10);
  }
  if (name == "field" || name == "newfield")
  {
    return MakeField(size);
  }
  if (name == "thinplate" || name == "newthinplate")
  {
    return MakeThinPlate(size);
  }
  if (name == "affine.bspline")
  {
    auto composite = itk::CompositeTransform<double, 3>::New();
    composite->AddTransform(MakeAffine(size));
    composite->AddTransform(MakeSpline(size, 10));
    return composite.GetPointer();
  }
  throw std::logic_error("There is no transform " + name + '.');
}

void
MeasureITKResample(benchmark::State & state, LoadedResampleCase & loaded)
{
  auto filter = itk::ResampleImageFilter<ImageType, ImageType>::New();
  SetUp(*filter, loaded);
  for (auto _ : state)
  {
    Update(state, *filter, loaded);
  }
  loaded.expected = filter->GetOutput();
}

void
MeasureOurResample(benchmark::State & state, LoadedResampleCase & loaded, const itk::GPUDevice & device)
{
  auto filter = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(device);
  SetUp(*filter, loaded);
  filter->Update();
  double withTransfers = 0;
  for (auto _ : state)
  {
    Update(state, *filter, loaded);
    withTransfers += filter->GetEvaluationStatistics().evaluateMilliseconds;
  }
  const gpureg::EvaluationStatistics counts = filter->GetEvaluationStatistics();
  const double                       kernels = MeasureKernels(*filter);
  const Work                         work = GetResampleWork(*loaded.image, *loaded.transform, loaded.interpolator);
  const ImageDifference              difference = Compare(GetExpected(loaded), *filter->GetOutput());

  // On the host, a transform that would be sampled may be left to ITK's class.
  if (counts.launches > 0)
  {
    state.counters["kernels_ms"] = kernels;
    state.counters["with_transfers_ms"] = withTransfers / static_cast<double>(state.iterations());
    state.counters["GB/s"] = work.voxels * work.bytesPerVoxel / kernels * 1e-6;
    SetBounds(state, device, work, counts);
  }
  state.counters["launches"] = counts.launches;
  state.counters["copies_up"] = counts.copiesUp;
  state.counters["copies_down"] = counts.copiesDown;
  state.counters["allocations"] = counts.allocations;
  state.counters["synchronisations"] = counts.synchronizations;
  state.counters["device_MB"] = static_cast<double>(counts.deviceBytes) * 1e-6;
  state.counters["nrmse"] = difference.byRange;
  state.counters["nrmse_by_magnitude"] = difference.byMagnitude;
  state.counters["differing_voxels"] = static_cast<double>(difference.voxels);
}

} // namespace bench
