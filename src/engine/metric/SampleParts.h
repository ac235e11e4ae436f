// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SampleParts_h
#define gpureg_SampleParts_h

#include <vector>

namespace gpureg
{

/** Joins evaluations of which each has a part of the samples of one similarity. All of them make the same calls in the same order, and wait
 *  in them for each other. */
class SampleParts
{
public:
  virtual ~SampleParts() = default;

  /** Returns the sums of all parts' numbers. Every part gives as many. */
  virtual std::vector<double>
  Sum(const std::vector<double> & numbers) = 0;

  /** Returns the largest of all parts' numbers. */
  virtual double
  FindLargest(double number) = 0;
};

} // namespace gpureg

#endif
