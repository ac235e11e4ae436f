// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DeformationProgress_h
#define gpureg_DeformationProgress_h

#include <functional>

namespace gpureg
{

/** Describes the state of a running registration. */
struct DeformationProgress
{
  int level = 0; // the coarsest is 0
  int levels = 1;
  int iteration = 0;
  /** Share of all iterations that is done, 0 to 1. */
  double share = 0;
  /** Waits for the device, downloads the cost before the last iteration (for conjugate gradients, of the last trial), and returns it;
   *  not a number at the beginning of a level. Call it only inside the progress function. */
  std::function<double()> downloadCost;
};

} // namespace gpureg

#endif
