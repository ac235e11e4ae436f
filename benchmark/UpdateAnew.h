// SPDX-License-Identifier: Apache-2.0
#ifndef UpdateAnew_h
#define UpdateAnew_h

#include "itkProcessObject.h"

#include <benchmark/benchmark.h>

namespace bench
{

/** Its input has changed; its outputs' memory is given back, so that it is as that of a filter that is made anew. */
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

/** Only the update is timed. */
template <typename TFilter, typename TImage>
void
UpdateAnew(benchmark::State & state, TFilter & filter, const TImage & input)
{
  state.PauseTiming();
  MakeNew(filter, input);
  state.ResumeTiming();
  filter.Update();
}

} // namespace bench

#endif
