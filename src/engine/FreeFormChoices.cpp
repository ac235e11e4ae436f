// SPDX-License-Identifier: Apache-2.0
#include "gpureg/FreeFormChoices.h"

#include "gpureg/Error.h"

#include <cstddef>
#include <ostream>

namespace gpureg
{

namespace
{
constexpr const char * SimilarityNames[] = {
  "NormalizedMutualInformation", "CorrelationRatio", "MeanSquares", "Correlation", "NeighborhoodCorrelation"
};
constexpr const char * OptimizerNames[] = { "Adam", "ConjugateGradient", "AdaptiveStochasticGradientDescent" };

/** The names, with commas between. */
template <std::size_t VCount>
std::string
List(const char * const (&names)[VCount])
{
  std::string list;
  for (const char * const name : names)
  {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

template <std::size_t VCount>
const char *
NameOf(const char * what, const char * const (&names)[VCount], std::size_t number)
{
  if (number >= VCount)
  {
    throw BadInputError("there is no " + std::string(what) + " " + std::to_string(number) + "; set one of " +
                        List(names));
  }
  return names[number];
}

template <std::size_t VCount>
std::size_t
NumberOf(const char * what, const char * const (&names)[VCount], const std::string & name)
{
  for (std::size_t n = 0; n < VCount; ++n)
  {
    if (name == names[n])
    {
      return n;
    }
  }
  throw BadInputError("there is no " + std::string(what) + " \"" + name + "\"; set one of " + List(names));
}
} // namespace

const char *
GetName(SimilarityKind kind)
{
  return NameOf("similarity", SimilarityNames, static_cast<std::size_t>(kind));
}

const char *
GetName(FreeFormOptimizer optimizer)
{
  return NameOf("optimizer", OptimizerNames, static_cast<std::size_t>(optimizer));
}

SimilarityKind
GetSimilarityKind(const std::string & name)
{
  return static_cast<SimilarityKind>(NumberOf("similarity", SimilarityNames, name));
}

FreeFormOptimizer
GetFreeFormOptimizer(const std::string & name)
{
  return static_cast<FreeFormOptimizer>(NumberOf("optimizer", OptimizerNames, name));
}

std::ostream &
operator<<(std::ostream & out, SimilarityKind kind)
{
  return out << "gpureg::SimilarityKind::" << GetName(kind);
}

std::ostream &
operator<<(std::ostream & out, FreeFormOptimizer optimizer)
{
  return out << "gpureg::FreeFormOptimizer::" << GetName(optimizer);
}

} // namespace gpureg
