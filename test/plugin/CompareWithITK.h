// SPDX-License-Identifier: Apache-2.0
// Compares results of the classes that New() gives with results of ITK's own classes, in one program that uses only ITK.
#ifndef CompareWithITK_h
#define CompareWithITK_h

#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkObjectFactoryBase.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <numeric>
#include <string>
#include <typeinfo>
#include <vector>

/** Numbers that an object has computed, and their name. */
struct Result
{
  std::string         name;
  std::vector<double> numbers;
};

/** An object's class, and its results. */
struct Outcome
{
  const std::type_info * type;
  std::string            className;
  std::vector<Result>    results;
};

/** Makes an object by New(), and returns its results. */
using Experiment = std::function<Outcome()>;

/** Writes function(index) to each voxel without a new time stamp, as programs do that do not call Modified(). */
template <typename TImage, typename TFunction>
void
Refill(TImage & image, const TFunction & function)
{
  for (itk::ImageRegionIteratorWithIndex<TImage> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    it.Set(static_cast<typename TImage::PixelType>(function(it.GetIndex())));
  }
}

/** Updates a filter as if another setting of the program had changed. Returns the values of its output. */
template <typename TFilter>
std::vector<double>
UpdateAndGetValues(TFilter & filter)
{
  filter.Modified();
  filter.Update();
  const auto * const output = filter.GetOutput();
  using ImageType = typename TFilter::OutputImageType;
  std::vector<double> values;
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(output, output->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    values.push_back(it.Get());
  }
  return values;
}

/** Returns a filter's output for its input, and for the same input after refill() has overwritten it. */
template <typename TFilter, typename TRefill>
Outcome
UpdateBeforeAndAfter(TFilter & filter, const TRefill & refill)
{
  // Often enough for a device to store the input.
  for (int n = 0; n < 3; ++n)
  {
    UpdateAndGetValues(filter);
  }
  const std::vector<double> before = UpdateAndGetValues(filter);
  refill();
  return { &typeid(filter),
           filter.GetNameOfClass(),
           { { "image", before }, { "refilled", UpdateAndGetValues(filter) } } };
}

/** Unregisters all factories, so that New() gives ITK's own classes. UnRegisterAllFactories() would not suffice: the next New() would
 *  load those of ITK_AUTOLOAD_PATH again. */
inline void
UnRegisterFactories()
{
  const std::list<itk::ObjectFactoryBase *> factories = itk::ObjectFactoryBase::GetRegisteredFactories();
  for (itk::ObjectFactoryBase * factory : factories)
  {
    itk::ObjectFactoryBase::UnRegisterFactory(factory);
  }
}

inline double
Sum(const std::vector<double> & numbers)
{
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

/** Returns the sum of the differences' magnitudes, relative to the sum of the magnitudes of ITK's numbers. */
inline double
GetRelativeDifference(const std::vector<double> & numbers, const std::vector<double> & itks)
{
  if (numbers.size() != itks.size())
  {
    return HUGE_VAL;
  }
  double difference = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < itks.size(); ++i)
  {
    difference += std::abs(numbers[i] - itks[i]);
    magnitude += std::abs(itks[i]);
  }
  return difference / magnitude;
}

/** Prints an object's class and the sum of each result, followed by the sum of ITK's own class, in one line. Returns true if all results
 *  agree. */
inline bool
Agree(const Outcome & outcome, const Outcome & itks, double tolerance)
{
  bool agree = outcome.results.size() == itks.results.size();
  std::cout << (*outcome.type == *itks.type ? "ITK's own " : "another ") << outcome.className << std::setprecision(10);
  for (std::size_t i = 0; agree && i < itks.results.size(); ++i)
  {
    const std::vector<double> & numbers = outcome.results[i].numbers;
    const std::vector<double> & itksNumbers = itks.results[i].numbers;
    const double                difference = GetRelativeDifference(numbers, itksNumbers);
    std::cout << ", " << outcome.results[i].name << ' ' << Sum(numbers) << " (ITK's " << Sum(itksNumbers)
              << ", relative difference " << difference << ')';
    agree = difference <= tolerance;
  }
  std::cout << (agree ? "" : ": THEY DIFFER") << std::endl;
  return agree;
}

/** Runs experiments with the classes that New() gives, then with ITK's own. Returns the program's exit code: a failure if results differ
 *  by more than the relative tolerance. */
inline int
CompareWithITK(const std::vector<Experiment> & experiments, double tolerance)
{
  try
  {
    std::vector<Outcome> outcomes;
    for (const Experiment & experiment : experiments)
    {
      outcomes.push_back(experiment());
    }
    UnRegisterFactories();
    bool agree = true;
    for (std::size_t i = 0; i < experiments.size(); ++i)
    {
      agree = Agree(outcomes[i], experiments[i](), tolerance) && agree;
    }
    return agree ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << error << std::endl;
    return EXIT_FAILURE;
  }
}

#endif
