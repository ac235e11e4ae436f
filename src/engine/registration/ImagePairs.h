// SPDX-License-Identifier: Apache-2.0
// The pairs of images that a registration compares at once.
#ifndef gpureg_ImagePairs_h
#define gpureg_ImagePairs_h

#include "gpureg/core/Error.h"
#include "gpureg/registration/FurtherPair.h"

#include "engine/image/RangedImage.h"
#include "engine/registration/MemoryPlanning.h"
#include "engine/runtime/MemoryLedger.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

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

/** Returns the pairs whose weights are above 0, with weights that add up to 1. A pair without a weight costs nothing, and changes
 *  nothing. */
std::vector<WeighedPair>
WeighPairs(const std::vector<FurtherPair> & pairs, FirstPair first);

/** Returns what a message about a pair begins with: "pair 2: " for number 1, and nothing for the first pair. */
std::string
NamePair(std::size_t number);

/** Writes the images of all pairs down, each once, and returns their bytes. */
std::size_t
PlanPairs(const std::vector<FurtherPair> & pairs, MemoryLedger & ledger);

/** Describes the copies by which images are registered whose values lie beyond their ranges, and keeps the descriptions. */
class PlannedCopies
{
public:
  /** Returns pairs with the copies of those images that are planned to be copied: see IsCopied(). */
  std::vector<FurtherPair>
  Make(std::vector<FurtherPair> pairs);

private:
  std::deque<PlannedImage> m_Images;
};

/** Replaces a problem's images by those of pairs, the problem's own pair first. */
template <typename TProblem>
void
SetPairs(const std::vector<FurtherPair> & pairs, TProblem & problem)
{
  problem.fixed = pairs.front().fixed;
  problem.moving = pairs.front().moving;
  problem.further.assign(pairs.begin() + 1, pairs.end());
}

/** Replaces the ranges of the values of all pairs by those of others. */
template <typename TProblem, typename TSettings>
void
SetRanges(const std::vector<FurtherPair> & pairs, TProblem & problem, TSettings & settings)
{
  settings.fixedRange = pairs.front().fixedRange;
  settings.movingRange = pairs.front().movingRange;
  for (std::size_t number = 0; number < problem.further.size(); ++number)
  {
    problem.further[number].fixedRange = pairs[number + 1].fixedRange;
    problem.further[number].movingRange = pairs[number + 1].movingRange;
  }
}

/** Calls consider(what, problem, settings) with neither ranges nor outliers, if a plan of these pairs counts copies without them. */
template <typename TProblem, typename TSettings, typename TConsider>
void
ConsiderNoOutliers(std::vector<FurtherPair> pairs, TProblem problem, TSettings settings, const TConsider & consider)
{
  bool areCopied = false;
  for (FurtherPair & pair : pairs)
  {
    areCopied = areCopied || IsCopied(pair.fixedRange) || IsCopied(pair.movingRange);
    pair.fixedRange.reset();
    pair.movingRange.reset();
  }
  if (areCopied)
  {
    SetRanges(pairs, problem, settings);
    consider("images without outliers or values beyond their range", problem, settings);
  }
}

/** Replaces the images of further pairs by changed ones. \param change as of ForEachChangeOfImages() */
template <typename TChange>
void
ChangeFurther(std::vector<FurtherPair> & further, const TChange & change)
{
  for (FurtherPair & pair : further)
  {
    pair.fixed = change(pair.fixed);
    pair.moving = change(pair.moving);
  }
}

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

/** Calls check(image, which) for the images of all pairs, with which "fixed" or "moving", and names the pair in errors. */
template <typename TCheck>
void
ForEachImage(const std::vector<FurtherPair> & pairs, const TCheck & check)
{
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    WithPairNamed(number, [&] {
      check(pairs[number].fixed, "fixed");
      check(pairs[number].moving, "moving");
    });
  }
}

/** Keeps copies of the images of pairs, where their values do not lie in their ranges. */
class RangedPairs
{
public:
  RangedPairs(Queue & queue, std::string deviceName);

  /** Is told which images will be copied, before any of them is. It may call Release().
   *  \param pairs have the ranges of images that will be copied, and none of the others
   *  \param areCopied false if there are no such images */
  using CheckRoom = std::function<void(const std::vector<FurtherPair> & pairs, bool areCopied)>;

  /** Returns the pairs with images whose values lie in their ranges: see RangedImage::Make(). Warnings name the pair. */
  std::vector<FurtherPair>
  Make(std::vector<FurtherPair> pairs, const CheckRoom & checkRoom, std::vector<std::string> & warnings);

  /** Frees the copies. */
  void
  Release()
  {
    m_Pairs.clear();
  }

  std::size_t
  GetDeviceBytes() const;

private:
  struct Ranged
  {
    Ranged(Queue & queue, const std::string & deviceName)
      : fixed(queue, deviceName)
      , moving(queue, deviceName)
    {}

    RangedImage fixed;
    RangedImage moving;
  };

  Queue &                              m_Queue;
  std::string                          m_DeviceName;
  std::vector<std::unique_ptr<Ranged>> m_Pairs;
};

/** Returns what calls checkRoom(its, ranged, areCopied) with a problem and settings of the ranges of images that will be copied. The
 *  problem and the settings must outlive it. */
template <typename TProblem, typename TSettings, typename TCheckRoom>
RangedPairs::CheckRoom
RegardCopies(const TProblem & problem, const TSettings & settings, const TCheckRoom & checkRoom)
{
  return [&problem, &settings, checkRoom](const std::vector<FurtherPair> & pairs, bool areCopied) {
    TProblem  its = problem;
    TSettings ranged = settings;
    SetRanges(pairs, its, ranged);
    checkRoom(its, ranged, areCopied);
  };
}

} // namespace gpureg

#endif
