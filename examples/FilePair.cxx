// SPDX-License-Identifier: Apache-2.0
#include "FilePair.h"

#include "itkCompositeTransform.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>

namespace example
{
namespace
{

/** Returns all labels but 0. */
std::set<short>
FindLabels(const Labels * labels)
{
  const short * const first = labels->GetBufferPointer();
  std::set<short>     found(first, first + labels->GetBufferedRegion().GetNumberOfPixels());
  found.erase(0);
  return found;
}

std::set<short>
FindLabelsOfFile(const Labels * labels, const std::string & fileName)
{
  auto found = FindLabels(labels);
  if (found.empty())
  {
    throw std::runtime_error(
      fileName + " has no label: all its voxels are 0. Name a file of an image's regions, numbered from 1.");
  }
  return found;
}

/** Returns true if the eight corners are at the other grid's corners within a hundredth of a voxel: formats round the numbers of a grid. */
bool
HaveSameCorners(const VolumeGrid * a, const VolumeGrid * b)
{
  const auto & spacing = b->GetSpacing();
  const double tolerance = 0.01 * *std::min_element(spacing.Begin(), spacing.End());
  for (unsigned int corner = 0; corner < 8; ++corner)
  {
    auto index = b->GetLargestPossibleRegion().GetIndex();
    for (unsigned int d = 0; d < 3; ++d)
    {
      const auto size = static_cast<itk::IndexValueType>(b->GetLargestPossibleRegion().GetSize(d));
      index[d] += ((corner >> d) & 1) * (size - 1);
    }
    const auto here = a->TransformIndexToPhysicalPoint<double>(index);
    if (here.EuclideanDistanceTo(b->TransformIndexToPhysicalPoint<double>(index)) > tolerance)
    {
      return false;
    }
  }
  return true;
}

/** Checks that labels are on a grid, since they are compared voxel by voxel. */
void
CheckIsOnGrid(const Labels *      labels,
              const std::string & labelsName,
              const Volume *      image,
              const std::string & imageName)
{
  std::ostringstream text;
  const auto &       region = labels->GetLargestPossibleRegion();
  const auto &       wanted = image->GetLargestPossibleRegion();
  if (region.GetSize() != wanted.GetSize())
  {
    text << labelsName << " has " << region.GetSize() << " voxels, " << imageName << " has " << wanted.GetSize()
         << ". ";
  }
  else if (!HaveSameCorners(labels, image))
  {
    text << "The voxels of " << labelsName << " are not where those of " << imageName << " are. ";
  }
  else
  {
    return;
  }
  throw std::runtime_error(
    text.str() + "Name labels of the fixed image on its own grid, or resample them to it by nearest neighbour.");
}

void
CheckHaveOneInCommon(const FilePair & pair, const FilePairNames & names)
{
  const auto      fixed = FindLabelsOfFile(pair.fixedLabels, names.fixedLabels);
  const auto      moving = FindLabelsOfFile(pair.movingLabels, names.movingLabels);
  std::set<short> both;
  std::set_intersection(fixed.begin(), fixed.end(), moving.begin(), moving.end(), std::inserter(both, both.begin()));
  if (both.empty())
  {
    throw std::runtime_error(names.fixedLabels + " and " + names.movingLabels +
                             " have no label in common. Name files in which a region has the same number.");
  }
}

/** Returns labels for the fixed image. */
Labels::Pointer
MakeFixedLabels(const FilePair & pair, const FilePairNames & names)
{
  FindLabelsOfFile(pair.movingLabels, names.movingLabels);
  auto labels = ResampleLabels(pair.movingLabels, pair.fixed, pair.truth);
  if (FindLabels(labels).empty())
  {
    throw std::runtime_error("The truth leads from no voxel of the fixed image to a label of " + names.movingLabels +
                             ". Check --truth, which is from fixed to moving points, and the labels.");
  }
  return labels;
}

/** Deforms the fixed image, its labels, and the truth. */
void
Deform(FilePair * pair, std::uint32_t seed)
{
  pair->deformation = MakeKnownDeformation(pair->fixed, DeformationKind::BSpline, seed);
  const auto deformation = pair->deformation->transform;
  pair->fixed = MakeDeformedPair(pair->fixed, deformation).fixed;
  if (pair->fixedLabels != nullptr)
  {
    pair->fixedLabels = ResampleLabels(pair->fixedLabels, pair->fixed, deformation);
  }
  // The transform that is added last is applied first.
  const auto truth = itk::CompositeTransform<double, 3>::New();
  if (pair->truth != nullptr)
  {
    truth->AddTransform(pair->truth);
  }
  truth->AddTransform(deformation);
  pair->truth = truth.GetPointer();
}

} // namespace

FilePair
ReadFilePair(const FilePairNames & names)
{
  const auto readLabels = [](const std::string & name) { return name.empty() ? nullptr : ReadLabels(name); };
  FilePair   pair;
  pair.truth = names.truth.empty() ? nullptr : ReadTransform(names.truth);
  auto readMoving = std::async(std::launch::async, ReadVolume, names.moving);
  pair.fixed = ReadVolume(names.fixed);
  pair.moving = readMoving.get();
  pair.fixedLabels = readLabels(names.fixedLabels);
  pair.movingLabels = readLabels(names.movingLabels);
  if (pair.fixedLabels != nullptr)
  {
    CheckIsOnGrid(pair.fixedLabels, names.fixedLabels, pair.fixed, names.fixed);
    CheckHaveOneInCommon(pair, names);
  }
  if (names.seed)
  {
    Deform(&pair, *names.seed);
  }
  if (pair.fixedLabels == nullptr && pair.movingLabels != nullptr && pair.truth != nullptr)
  {
    pair.fixedLabels = MakeFixedLabels(pair, names);
  }
  return pair;
}

} // namespace example
