// SPDX-License-Identifier: Apache-2.0
#ifndef UpdateAgain_h
#define UpdateAgain_h

#include "itkProcessObject.h"

#include <benchmark/benchmark.h>

namespace bench
{

/** Prepares a filter for an update as if it were new: its input has changed, and its outputs' memory is freed. */
template <typename TFilter, typename TImage>
void
MakeNew(TFilter & filter, const TImage & input)
{
  input.Modified();
  for (unsigned int i = 0; i < filter.GetNumberOfIndexedOutputs(); ++i)
  {
    filter.GetOutput(i)->Initialize();
  }
}

/** Times only the update. */
template <typename TFilter, typename TImage>
void
UpdateAgain(benchmark::State & state, TFilter & filter, const TImage & input)
{
  state.PauseTiming();
  MakeNew(filter, input);
  state.ResumeTiming();
  filter.Update();
}

} // namespace bench

#endif
