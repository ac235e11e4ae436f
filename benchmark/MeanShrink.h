// SPDX-License-Identifier: Apache-2.0
#ifndef MeanShrink_h
#define MeanShrink_h

#include "Volume.h"

#include "itkBinShrinkImageFilter.h"

namespace bench
{

/** Returns an image whose voxels are means over factors[d] voxels along each axis d; remaining voxels are left out. */
inline example::Volume::Pointer
ShrinkByMeans(const example::Volume * image, const itk::FixedArray<unsigned int, 3> & factors)
{
  const auto shrink = itk::BinShrinkImageFilter<example::Volume, example::Volume>::New();
  shrink->SetInput(image);
  shrink->SetShrinkFactors(factors);
  shrink->Update();
  return shrink->GetOutput();
}

} // namespace bench

#endif
