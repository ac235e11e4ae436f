// SPDX-License-Identifier: Apache-2.0
#ifndef UpdateAnew_h
#define UpdateAnew_h

#include "itkProcessObject.h"

namespace bench
{

/** Its input has changed; its outputs' memory is given back, as that of a filter that is made anew would be. */
template <typename TFilter, typename TImage>
void
UpdateAnew(TFilter & filter, const TImage & input)
{
  input.Modified();
  for (unsigned int i = 0; i < filter.GetNumberOfIndexedOutputs(); ++i)
  {
    filter.GetOutput(i)->Initialize();
  }
  filter.Update();
}

} // namespace bench

#endif
