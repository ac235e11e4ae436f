// SPDX-License-Identifier: Apache-2.0
#include "gpureg/metric/Similarity.h"

#include "engine/core/Choices.h"
#include "engine/metric/SimilarityChoices.h"

#include <iterator>
#include <ostream>
#include <vector>

namespace gpureg
{

namespace
{
constexpr bool
AreInOrder()
{
  for (std::size_t n = 0; n < std::size(Similarities); ++n)
  {
    if (Similarities[n].kind != static_cast<SimilarityKind>(n))
    {
      return false;
    }
  }
  return true;
}
static_assert(AreInOrder(), "Describe() finds a similarity by its number");

bool
Serves(const SimilarityDescription & similarity, SimilarityUse use)
{
  return use == nullptr || similarity.*use;
}

[[noreturn]] void
ThrowNoSimilarity(const char * what, const std::string & which, SimilarityUse use)
{
  std::vector<const char *> names;
  for (const SimilarityDescription & similarity : Similarities)
  {
    if (Serves(similarity, use))
    {
      names.push_back(similarity.name);
    }
  }
  ThrowNoChoice(what, which, names);
}
} // namespace

const char *
GetName(SimilarityKind kind)
{
  CheckServes("similarity", kind, nullptr);
  return Describe(kind).name;
}

std::ostream &
operator<<(std::ostream & out, SimilarityKind kind)
{
  return out << "gpureg::SimilarityKind::" << GetName(kind);
}

SimilarityKind
FindSimilarity(const char * what, const std::string & name, SimilarityUse use)
{
  for (const SimilarityDescription & similarity : Similarities)
  {
    if (name == similarity.name && Serves(similarity, use))
    {
      return similarity.kind;
    }
  }
  ThrowNoSimilarity(what, '"' + name + '"', use);
}

void
CheckServes(const char * what, SimilarityKind kind, SimilarityUse use)
{
  const auto number = static_cast<std::size_t>(kind);
  if (number >= std::size(Similarities))
  {
    ThrowNoSimilarity(what, std::to_string(number), use);
  }
  if (!Serves(Describe(kind), use))
  {
    ThrowNoSimilarity(what, Describe(kind).name, use);
  }
}

int
CheckedBins(SimilarityKind kind, int bins)
{
  const SimilarityDescription & similarity = Describe(kind);
  if (bins < similarity.bins.least || bins > similarity.bins.most)
  {
    throw BadInputError(std::string(similarity.phrase) + " has " + std::to_string(similarity.bins.least) + " to " +
                        std::to_string(similarity.bins.most) + " bins, not " + std::to_string(bins) +
                        "; set another number of bins");
  }
  return bins;
}

void
CheckSettings(const SimilaritySettings & settings)
{
  if (Describe(settings.kind).HasBins())
  {
    CheckedBins(settings.kind, settings.bins);
  }
  if (Describe(settings.kind).HasNeighborhoods() && settings.radius < 1)
  {
    throw BadInputError("a neighborhood's radius is 1 voxel or more, not " + std::to_string(settings.radius));
  }
}

} // namespace gpureg
