// SPDX-License-Identifier: Apache-2.0
// The numbers of Li 2015 about its schemes: tables 4, 5 and 7 to 9, and the text of sections 4.2 to 5.3. Numbers that only its figures show
// are not given here.
#ifndef Li2015_h
#define Li2015_h

#include "Table.h"

#include "gpureg/metric/histogram/CorrelationRatioScheme.h"

#include <array>
#include <string>

namespace bench::li2015
{

using gpureg::CorrelationRatioScheme;

/** For a GTX 570 (Fermi), a GTX TITAN (Kepler) and a GTX 750 Ti (Maxwell). */
using OfEachGPU = std::array<std::string, 3>;
inline const OfEachGPU GPUs = { "Fermi", "Kepler", "Maxwell" };

/** Section 4.2.1: one evaluation of the cost function of 256×256×160 voxels and 256 bins, ms, with 64 to 2048 blocks of 256 threads,
 *  whose number hardly changes it. */
inline OfEachGPU
GetEvaluation(CorrelationRatioScheme scheme)
{
  switch (scheme)
  {
    case CorrelationRatioScheme::GlobalAtomic:
      return { "95", "22", Table::none };
    case CorrelationRatioScheme::SharedAtomic:
    case CorrelationRatioScheme::SharedMerge:
      return { Table::none, "about 18", "> 80" };
    default:
      return { Table::none, Table::none, Table::none };
  }
}

/** Table 4: threads × blocks of a whole registration; for ConflictFree the threads. */
inline OfEachGPU
GetShape(CorrelationRatioScheme scheme)
{
  switch (scheme)
  {
    case CorrelationRatioScheme::GlobalAtomic:
      return { "256 × 15", "1024 × 14", "1024 × 5" };
    case CorrelationRatioScheme::GlobalMerge:
      return { "192 × 15", "256 × 14", "256 × 5" };
    case CorrelationRatioScheme::SharedAtomic:
    case CorrelationRatioScheme::SharedMerge:
      return { "96 × 120", "128 × 224", "32 × 160" };
    case CorrelationRatioScheme::SharedWarp:
      return { "256 × 90", "256 × 112", "64 × 160" };
    case CorrelationRatioScheme::ConflictFree:
      return { "256", "128", "128" };
  }
  return { Table::none, Table::none, Table::none };
}

/** Table 5: speedups of a whole registration, over 145.3 s on one core of an Intel Q8300. */
inline OfEachGPU
GetSpeedup(CorrelationRatioScheme scheme)
{
  switch (scheme)
  {
    case CorrelationRatioScheme::GlobalAtomic:
      return { "3.3", "14.2", "13.7" };
    case CorrelationRatioScheme::GlobalMerge:
      return { "1.8", "1.6", "5.4" };
    case CorrelationRatioScheme::SharedAtomic:
      return { "19.5", "25.3", "11.3" };
    case CorrelationRatioScheme::SharedMerge:
      return { "11.7", "15.9", "10.1" };
    case CorrelationRatioScheme::SharedWarp:
      return { "18.5", "20.9", "11.7" };
    case CorrelationRatioScheme::ConflictFree:
      return { "31.6", "55.3", "28.4" };
  }
  return { Table::none, Table::none, Table::none };
}

/** Section 5.1: the fastest workload limit of a whole registration, and its time. */
inline std::string
GetWorkload(int limit)
{
  return limit == 512    ? "Kepler's best, 2.6 s"
         : limit == 768  ? "Maxwell's best, 5.1 s"
         : limit == 1280 ? "Fermi's best, 4.6 s"
                         : Table::none;
}

/** Section 5.3: the effect of a distance of the border weights. */
inline std::string
GetBorder(double distance)
{
  return distance == 0 ? Table::none : distance == 34 ? "almost unchanged; the least error" : "almost unchanged";
}

/** Tables 7 to 9: the total delay by sorting, ms, for a stage's voxels. */
struct Stage
{
  std::array<unsigned int, 3> size;
  OfEachGPU                   delay;
};

inline const std::array<Stage, 4> Stages = { { { { 32, 32, 20 }, { "0.766", "1.141", "1.554" } },
                                               { { 64, 64, 40 }, { "2.166", "1.722", "2.863" } },
                                               { { 128, 128, 80 }, { "5.814", "3.932", "8.459" } },
                                               { { 256, 256, 160 }, { "57.31", "26.20", "55.37" } } } };

} // namespace bench::li2015

#endif
