// SPDX-License-Identifier: Apache-2.0
#include "DisplacementField.h"

#include "ImageFile.h"

#include "itkCastImageFilter.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <stdexcept>

namespace example
{

DisplacementField::Pointer
SampleDisplacements(const Transform * transform, const VolumeGrid * grid)
{
  const auto field = DisplacementField::New();
  field->CopyInformation(grid);
  field->SetRegions(grid->GetLargestPossibleRegion());
  field->Allocate();
  const auto sample = [&](const VolumeGrid::RegionType & region) {
    for (itk::ImageRegionIteratorWithIndex<DisplacementField> voxel(field, region); !voxel.IsAtEnd(); ++voxel)
    {
      const auto point = field->TransformIndexToPhysicalPoint<double>(voxel.GetIndex());
      voxel.Set(transform->TransformPoint(point) - point);
    }
  };
  itk::MultiThreaderBase::New()->ParallelizeImageRegion<3>(field->GetBufferedRegion(), sample, nullptr);
  return field;
}

void
WriteDisplacements(const DisplacementField * field, const std::string & fileName)
{
  using Floats = itk::Image<itk::Vector<float, 3>, 3>;
  const auto cast = itk::CastImageFilter<DisplacementField, Floats>::New();
  cast->SetInput(field);
  cast->Update();
  WriteImageFile<Floats>(cast->GetOutput(), fileName);
}

FieldJacobian
MeasureJacobian(const DisplacementField * field, double factor)
{
  auto region = field->GetBufferedRegion();
  for (unsigned int d = 0; d < 3; ++d)
  {
    if (region.GetSize(d) < 3)
    {
      throw std::runtime_error(
        "A displacement field of fewer than three voxels along an axis has no central differences.");
    }
  }
  region.ShrinkByRadius(1);

  // The matrix of two voxels along each axis, as vectors in mm, and its determinant.
  itk::Matrix<double, 3, 3> steps;
  for (unsigned int r = 0; r < 3; ++r)
  {
    for (unsigned int d = 0; d < 3; ++d)
    {
      steps(r, d) = 2.0 * field->GetDirection()(r, d) * field->GetSpacing()[d];
    }
  }
  const double volume = vnl_determinant(steps.GetVnlMatrix());

  // Neither a minimum nor a count depends on the threads' order.
  FieldJacobian jacobian{ std::numeric_limits<double>::max(), 0 };
  std::mutex    mutex;
  const auto    measure = [&](const VolumeGrid::RegionType & part) {
    FieldJacobian mine{ std::numeric_limits<double>::max(), 0 };
    for (itk::ImageRegionConstIteratorWithIndex<DisplacementField> voxel(field, part); !voxel.IsAtEnd(); ++voxel)
    {
      itk::Matrix<double, 3, 3> moved = steps;
      for (unsigned int d = 0; d < 3; ++d)
      {
        auto before = voxel.GetIndex();
        auto behind = voxel.GetIndex();
        --before[d];
        ++behind[d];
        const auto difference = factor * (field->GetPixel(behind) - field->GetPixel(before));
        for (unsigned int r = 0; r < 3; ++r)
        {
          moved(r, d) += difference[r];
        }
      }
      const double determinant = vnl_determinant(moved.GetVnlMatrix()) / volume;
      mine.smallest = std::min(mine.smallest, determinant);
      mine.folded += determinant > 0 ? 0 : 1;
    }
    const std::lock_guard<std::mutex> lock(mutex);
    jacobian.smallest = std::min(jacobian.smallest, mine.smallest);
    jacobian.folded += mine.folded;
  };
  itk::MultiThreaderBase::New()->ParallelizeImageRegion<3>(region, measure, nullptr);
  return jacobian;
}

} // namespace example
