// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/WindowedTables.h"

#include "engine/resample/WindowedKernels.h"
#include "gpureg/core/Error.h"

#include <cmath>
#include <cstddef>
#include <string>

namespace gpureg
{

namespace
{
const double Pi = std::acos(-1.0);

double
Sinc(double x)
{
  return x == 0 ? 1.0 : std::sin(Pi * x) / (Pi * x);
}

/** Returns a window of ITK at a distance in voxels. */
double
ComputeWindow(WindowedKernel kernel, double distance)
{
  const double share = distance / kernels::SincRadius;
  switch (kernel)
  {
    case WindowedKernel::CosineSinc:
      return std::cos(0.5 * Pi * share);
    case WindowedKernel::HammingSinc:
      return 0.54 + 0.46 * std::cos(Pi * share);
    case WindowedKernel::WelchSinc:
      return 1 - share * share;
    case WindowedKernel::BlackmanSinc:
      return 0.42 + 0.5 * std::cos(Pi * share) + 0.08 * std::cos(2 * Pi * share);
    default:
      return Sinc(share);
  }
}

/** Appends the weights of the voxels around a point, one row for each part of a voxel by which it lies behind one. */
void
AppendSincs(WindowedKernel kernel, std::vector<double> & numbers)
{
  for (int row = 0; row <= kernels::SincTableRows; ++row)
  {
    const double fraction = static_cast<double>(row) / kernels::SincTableRows;
    for (int voxel = 1 - kernels::SincRadius; voxel <= kernels::SincRadius; ++voxel)
    {
      const double distance = fraction - voxel;
      numbers.push_back(Sinc(distance) * ComputeWindow(kernel, distance));
    }
  }
}

/** Appends the error function, and its slope times the distance of places, from minus to plus the end, and one place more. */
void
AppendErf(std::vector<double> & numbers)
{
  for (int n = 0; n <= 2 * kernels::ErfEnd * kernels::ErfTableEntries + 1; ++n)
  {
    const double x = static_cast<double>(n) / kernels::ErfTableEntries - kernels::ErfEnd;
    numbers.push_back(std::erf(x));
    numbers.push_back(2 / std::sqrt(Pi) * std::exp(-x * x) / kernels::ErfTableEntries);
  }
}

bool
IsGaussian(WindowedKernel kernel)
{
  return kernel == WindowedKernel::Gaussian || kernel == WindowedKernel::LabelGaussian;
}
} // namespace

std::vector<double>
MakeWindowedNumbers(const WindowedRequest & request)
{
  std::vector<double> numbers(kernels::WindowedTable);
  numbers[0] = request.outside;
  if (!IsGaussian(request.kernel))
  {
    AppendSincs(request.kernel, numbers);
    return numbers;
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const double sigma = request.sigmas[axis];
    const double cut = sigma * request.cutoff;
    if (!(sigma > 0) || !(cut > 0) || !std::isfinite(cut))
    {
      throw BadInputError("a Gaussian is to have a standard deviation and a reach above 0, and not " +
                          std::to_string(sigma) + " and " + std::to_string(cut) + " voxels");
    }
    // The Gaussian reaches into one voxel more than twice its cut-off radius.
    constexpr double most = 0.5 * kernels::MostTaps - 1;
    if (cut > most)
    {
      throw UnsupportedError("a Gaussian reaches " + std::to_string(cut) + " voxels to each side, and more than " +
                             std::to_string(static_cast<int>(most)) +
                             " are not possible; give a smaller one, or smooth the image first");
    }
    numbers[kernels::WindowedCut + axis] = cut;
    numbers[kernels::WindowedFactor + axis] = 1 / (std::sqrt(2.0) * sigma);
  }
  AppendErf(numbers);
  return numbers;
}

} // namespace gpureg
