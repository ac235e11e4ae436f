// SPDX-License-Identifier: Apache-2.0
// The numbers of Sun 2010 for one evaluation of the joint entropy and the mutual information: tables 4-3 to 4-7, with 32 bins (section
// 3.1.8). The paper has no partial volume in 3D.
#ifndef Sun2010_h
#define Sun2010_h

#include "Table.h"

#include <string>

namespace bench::sun2010
{

/** Milliseconds on a Tesla C1060, and of C code on an Intel i7-950. */
struct Figure
{
  std::string gpu = Table::none;
  std::string cpu = Table::none;
};

/** T1- and T2-weighted heads of size × size pixels by interpolation (table 4-3), and by partial volume (table 4-4). */
inline Figure
GetInterpolation(unsigned int size)
{
  switch (size)
  {
    case 64:
      return { "0.2", "0.725" };
    case 128:
      return { "0.275", "2.95" };
    case 256:
      return { "0.50", "11.78" };
    case 512:
      return { "0.825", "50.40" };
    default:
      return {};
  }
}

inline Figure
GetPartialVolume(unsigned int size)
{
  switch (size)
  {
    case 64:
      return { "0.325", "0.50" };
    case 128:
      return { "0.55", "1.75" };
    case 256:
      return { "1.175", "7.025" };
    case 512:
      return { "2.40", "28.875" };
    default:
      return {};
  }
}

/** 256×256×64 voxels by interpolation (table 4-7). */
inline const Figure Volume{ "24.3", "1742.7" };

} // namespace bench::sun2010

#endif
