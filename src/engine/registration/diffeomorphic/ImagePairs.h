// SPDX-License-Identifier: Apache-2.0
// The pairs of images that a registration compares at once.
#ifndef gpureg_ImagePairs_h
#define gpureg_ImagePairs_h

#include "gpureg/core/Error.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Returns all pairs, the first one included. */
std::vector<FurtherPair>
ListPairs(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings);

/** A pair that is compared. */
struct WeighedPair
{
  FurtherPair pair;
  /** The pair's number among all pairs, from 0 on. */
  std::size_t number = 0;
};

/** Says what becomes of the first pair if its weight is 0. */
enum class FirstPair
{
  IsDropped,
  IsKept
};

/** Returns the pairs whose weights are above 0, with weights that add up to 1. A pair without a weight costs nothing, and changes nothing. */
std::vector<WeighedPair>
ListWeighedPairs(const DiffeomorphicProblem &  problem,
                 const DiffeomorphicSettings & settings,
                 FirstPair                     first = FirstPair::IsDropped);

/** Returns what a message about a pair begins with: "pair 2: " for number 1, and nothing for the first pair. */
std::string
NamePair(std::size_t number);

/** Resizes a vector to count items. Existing items stay; make() makes each new one. If make() throws, the vector has no empty item. */
template <typename TItem, typename TMake>
void
ResizeItems(std::vector<std::unique_ptr<TItem>> & items, std::size_t count, const TMake & make)
{
  if (items.size() > count)
  {
    items.resize(count);
  }
  while (items.size() < count)
  {
    items.push_back(make());
  }
}

/** Calls call(), and adds the pair's name to the message of an error that call() throws. */
template <typename TCall>
auto
WithPairNamed(std::size_t number, const TCall & call)
{
  try
  {
    return call();
  }
  catch (const BadInputError & error)
  {
    throw BadInputError(NamePair(number) + error.what());
  }
  catch (const UnsupportedError & error)
  {
    throw UnsupportedError(NamePair(number) + error.what());
  }
}

} // namespace gpureg

#endif
