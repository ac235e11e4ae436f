// SPDX-License-Identifier: Apache-2.0
#ifndef StageProgress_h
#define StageProgress_h

#include "Stopwatch.h"

#include "itkEventObject.h"

#include <iomanip>
#include <ostream>

namespace example
{

/** Prints the level and the iteration of a registration method of this module, once a second.
 *  \param name the stage's name
 *  \param countLevels, countIterations return the number of levels, and of the current level's iterations
 *  \param os must outlive the method, or its observer */
template <typename TMethod, typename TCountLevels, typename TCountIterations>
void
ShowProgress(TMethod &                method,
             const char *             name,
             const TCountLevels &     countLevels,
             const TCountIterations & countIterations,
             std::ostream &           os)
{
  method.AddObserver(itk::IterationEvent(), [=, &method, &os, last = Stopwatch()](const itk::EventObject &) mutable {
    if (last.GetSeconds() > 1.0)
    {
      last = Stopwatch();
      os << std::left << std::setw(9) << name << std::right << "  level " << method.GetCurrentLevel() + 1 << " of "
         << countLevels() << "  iteration " << std::setw(3) << method.GetCurrentIteration() + 1 << " of "
         << countIterations() << std::endl;
    }
  });
}

} // namespace example

#endif
