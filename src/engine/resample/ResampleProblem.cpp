// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/ResampleProblem.h"

#include "gpureg/core/Error.h"

#include "engine/transform/FindPlanes.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace gpureg
{

namespace
{
/** \throws Error if a volume is empty, or has more rows or more elements in a slice than the kernels can count */
void
CheckSize(const Size & size, const std::string & what)
{
  constexpr std::int64_t MostElements = std::numeric_limits<int>::max();
  constexpr std::int64_t MostRows = kernels::ResampleMostRows;
  const std::string      which =
    what + " of " + std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " + std::to_string(size[2]);
  if (std::min({ size[0], size[1], size[2] }) < 1)
  {
    throw BadInputError(which + " is empty; there is nothing to resample");
  }
  if (static_cast<std::int64_t>(size[0]) * size[1] > MostElements ||
      static_cast<std::int64_t>(size[1]) * size[2] > MostRows)
  {
    throw UnsupportedError(which + " has more than " + std::to_string(MostElements) +
                           " elements in a slice, or more than " + std::to_string(MostRows) +
                           " rows; resample a part of it, or with a coarser grid");
  }
}

/** \throws BadInputError if the input's image on a device does not match the input's description, or is not on this device */
void
CheckImage(const ResampleInput & input, const std::string & deviceName)
{
  const DeviceImage * const image = input.image;
  if (image != nullptr &&
      (image->GetMemory() == nullptr || image->GetPrecision() != input.precision || input.components != 1 ||
       image->GetCount() != CountOf(input.size) || image->GetDeviceName() != deviceName))
  {
    throw BadInputError(
      "an input that is on a device has another size, precision or device than it is to be resampled by");
  }
}

int
ToKernel(Interpolation interpolation, int splineOrder)
{
  switch (interpolation)
  {
    case Interpolation::Nearest:
      return kernels::ResampleNearest;
    case Interpolation::Linear:
      return kernels::ResampleLinear;
    default:
      if (splineOrder < 0 || splineOrder > kernels::MaximumSplineOrder)
      {
        throw BadInputError("a B-spline interpolator has an order of 0 to 5, not " + std::to_string(splineOrder));
      }
      return kernels::BSplineOfOrder(splineOrder);
  }
}
} // namespace

void
CheckResampling(const ResampleInput & input, const ResampleRequest & request, const std::string & deviceName)
{
  CheckSize(input.size, "an input");
  CheckImage(input, deviceName);
  CheckSize(request.size, "an output");
  if (request.interpolation == Interpolation::BSpline && input.components > 1)
  {
    throw UnsupportedError("B-splines are of one component, and an input has " + std::to_string(input.components) +
                           "; resample each by itself");
  }
  for (const ChainStep & step : request.transform.steps)
  {
    CheckSize(step.grid.size, "a transform's grid");
    const bool isFirst = &step == &request.transform.steps.front();
    if (step.grid.kind == GridKind::OfOutput && !(isFirst && step.grid.size == request.size))
    {
      throw BadInputError(
        "a grid of a vector for each voxel of the output is not the transform's first, or of another size");
    }
  }
}

kernels::ResampleArguments
MakeResampleArguments(const ResampleInput & input, const ResampleRequest & request, const MergedChain & merged)
{
  kernels::ResampleArguments a{};
  a.toInput = merged.toInput;
  a.components = input.components;
  a.interpolation = ToKernel(request.interpolation, request.splineOrder);
  a.partCount = static_cast<int>(merged.parts.size());
  a.chain = merged.parts.empty()                                                 ? kernels::ChainIsAffine
            : merged.parts.size() == 1 && kernels::FollowsRows(&merged.parts[0]) ? kernels::ChainFollowsRows
                                                                                 : kernels::ChainHasParts;
  a.extrapolates = request.extrapolates;
  a.isOfIntegers = input.isOfIntegers;
  std::copy(input.size.begin(), input.size.end(), a.inputSize);
  a.outputSize[0] = request.size[0];
  a.outputSize[1] = request.size[1];
  return a;
}

PlaneRange
FindPlanesOfInput(
  const ResampleRequest & request, const MergedChain & merged, const SlabCut & cut, const RowRange & rows, double reach)
{
  // With parts, even with displacements of 0, rounding may move a position into the next cell.
  const int  margin = merged.parts.empty() ? 0 : 1;
  PlaneRange planes = FindPlanes(merged.toInput, cut.axis, request.size, rows, reach, margin, cut.planes);
  if (request.extrapolates)
  {
    planes.first = std::min(planes.first, cut.planes - 1);
    planes.end = std::max(planes.end, planes.first + 1);
  }
  return planes;
}

PlaneRange
FindSlabs(
  const ResampleRequest & request, const MergedChain & merged, const SlabCut & cut, const RowRange & rows, double reach)
{
  if (cut.GetCount() == 1)
  {
    return { 0, 1 };
  }
  // Adds the rounding of displacements.
  return cut.FindSlabs(FindPlanesOfInput(request, merged, cut, rows, 1.0001 * reach));
}

} // namespace gpureg
