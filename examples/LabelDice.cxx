// SPDX-License-Identifier: Apache-2.0
#include "LabelDice.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <stdexcept>

namespace example
{
namespace
{

void
CheckIsNotEmpty(const std::vector<LabelDice> & labels)
{
  if (labels.empty())
  {
    throw std::runtime_error("There are no labels to compare.");
  }
}

} // namespace

std::vector<LabelDice>
ComputeDice(const Labels * a, const Labels * b)
{
  if (a->GetBufferedRegion().GetSize() != b->GetBufferedRegion().GetSize())
  {
    throw std::runtime_error(
      "Labels of images of different sizes cannot be compared. Resample one to the other's grid.");
  }
  struct Sizes
  {
    itk::SizeValueType a = 0;
    itk::SizeValueType b = 0;
    itk::SizeValueType both = 0;
  };
  std::map<short, Sizes> sizes;
  const auto             count = a->GetBufferedRegion().GetNumberOfPixels();
  const short * const    labelsA = a->GetBufferPointer();
  const short * const    labelsB = b->GetBufferPointer();
  for (itk::SizeValueType n = 0; n < count; ++n)
  {
    if (labelsA[n] != 0)
    {
      Sizes & ofLabel = sizes[labelsA[n]];
      ++ofLabel.a;
      ofLabel.both += labelsA[n] == labelsB[n] ? 1 : 0;
    }
    if (labelsB[n] != 0)
    {
      ++sizes[labelsB[n]].b;
    }
  }
  std::vector<LabelDice> result;
  for (const auto & [label, size] : sizes)
  {
    const double dice = 2.0 * static_cast<double>(size.both) / static_cast<double>(size.a + size.b);
    result.push_back({ label, dice, size.a, size.b });
  }
  return result;
}

double
GetMeanDice(const std::vector<LabelDice> & labels)
{
  CheckIsNotEmpty(labels);
  double sum = 0;
  for (const auto & label : labels)
  {
    sum += label.dice;
  }
  return sum / static_cast<double>(labels.size());
}

const LabelDice &
GetSmallestDice(const std::vector<LabelDice> & labels)
{
  CheckIsNotEmpty(labels);
  return *std::min_element(labels.begin(), labels.end(), [](const LabelDice & a, const LabelDice & b) {
    return a.dice < b.dice;
  });
}

std::ostream &
operator<<(std::ostream & os, const std::vector<LabelDice> & labels)
{
  const LabelDice & smallest = GetSmallestDice(labels);
  return os << std::fixed << std::setprecision(3) << "mean " << GetMeanDice(labels) << " of " << labels.size()
            << " labels, smallest " << smallest.dice << " (label " << smallest.label << ')';
}

} // namespace example
