// SPDX-License-Identifier: Apache-2.0
// Timed versions of the objects that ITK itself makes in a registration, registered by ITK's object factories, so that the pipeline does
// not change.
#ifndef TimedITK_h
#define TimedITK_h

#include "../test/support/ReplacingFactory.h"
#include "Stopwatch.h"

namespace bench
{

/** Calls to one kind of object, and their wall time. */
struct CallTimes
{
  double       seconds = 0;
  unsigned int calls = 0;

  template <typename TFunction>
  auto
  Time(const TFunction & function)
  {
    struct Adder
    {
      ~Adder()
      {
        times.seconds += watch.GetSeconds();
        ++times.calls;
      }
      CallTimes &              times;
      const example::Stopwatch watch{};
    };
    const Adder adder{ *this };
    return function();
  }
};

/** A filter that times its work. */
template <typename TFilter>
class TimedFilter : public TFilter
{
public:
  using Self = TimedFilter;
  using Superclass = TFilter;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);

  inline static CallTimes times;

protected:
  void
  GenerateData() override
  {
    times.Time([this] { Superclass::GenerateData(); });
  }
};

/** An estimator of parameter scales that times its work. */
template <typename TEstimator>
class TimedEstimator : public TEstimator
{
public:
  using Self = TimedEstimator;
  using Superclass = TEstimator;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);

  inline static CallTimes times;

  void
  EstimateScales(typename Superclass::ScalesType & scales) override
  {
    times.Time([&] { Superclass::EstimateScales(scales); });
  }

  typename Superclass::FloatType
  EstimateStepScale(const typename Superclass::ParametersType & step) override
  {
    return times.Time([&] { return Superclass::EstimateStepScale(step); });
  }
};

/** Overrides ITK's classes by timed ones. */
using TimingFactory = gpuregtest::ReplacingFactory;

} // namespace bench

#endif
