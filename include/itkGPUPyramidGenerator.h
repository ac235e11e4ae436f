// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUPyramidGenerator_h
#define itkGPUPyramidGenerator_h

#include "itkGPUShrinkGeometry.h"
#include "itkGPUVolume.h"

#include "itkGaussianOperator.h"
#include "itkMultiResolutionPyramidImageFilter.h"
#include "itkShrinkImageFilter.h"

#include <array>
#include <type_traits>
#include <vector>

namespace itk
{

/** \class GPUPyramidGenerator
 * \brief Makes the levels of an itk::MultiResolutionPyramidImageFilter on a device.
 *
 * What ITK does in three filters, each over all voxels (itk::DiscreteGaussianImageFilter, then
 * itk::ResampleImageFilter or itk::ShrinkImageFilter), is one convolution along each axis here, computed only
 * where the level has voxels: linear interpolation, half-way between two voxels, is two more of its weights.
 * The image goes up once, and stays there for all levels.
 *
 * \ingroup GPURegistration
 */
template <typename TInputImage, typename TOutputImage>
class GPUPyramidGenerator
{
public:
  using PyramidType = MultiResolutionPyramidImageFilter<TInputImage, TOutputImage>;
  static constexpr unsigned int Dimension = TOutputImage::ImageDimension;

  using PixelType = typename TOutputImage::PixelType;

  /** Pyramids are made of what their output can hold: that is what the input is cast to first. */
  static constexpr bool IsOfKnownTypes =
    static_cast<unsigned int>(TInputImage::ImageDimension) == Dimension && (Dimension == 2 || Dimension == 3) &&
    std::is_arithmetic<typename TInputImage::PixelType>::value && GPUVolume::FitsIntoDouble<PixelType>;

  static constexpr gpureg::Precision Precision =
    GPUVolume::FitsIntoFloat<PixelType> ? gpureg::Precision::Single : gpureg::Precision::Double;

  GPUPyramidGenerator(PyramidType & pyramid, GPUVolume::Engine & engine)
    : m_Pyramid(pyramid)
    , m_Engine(engine)
  {}

  /** All levels, from the finest on, each from the input.
   * \throws gpureg::Error, itk::ExceptionObject */
  void
  Generate()
  {
    this->Run([this](gpureg::VolumeFilter & filter, const GeometryType & input, unsigned int level) {
      filter.Restart();
      Factors factors;
      for (unsigned int d = 0; d < Dimension; ++d)
      {
        factors[d] = m_Pyramid.GetSchedule()[level][d];
      }
      this->MakeLevel(filter, input, *m_Pyramid.GetOutput(level), factors, true);
    });
  }

  /** All levels, from the finest on, each from the one before: as
   * itk::RecursiveMultiResolutionPyramidImageFilter, whose schedule is downward divisible. */
  void
  GenerateRecursively()
  {
    const unsigned int levels = m_Pyramid.GetNumberOfLevels();
    auto               before = TOutputImage::New();
    this->Run([&](gpureg::VolumeFilter & filter, const GeometryType & input, unsigned int level) {
      if (level + 1 == levels)
      {
        before->CopyInformation(&input);
      }
      Factors factors;
      bool    isCopy = true;
      for (unsigned int d = 0; d < Dimension; ++d)
      {
        factors[d] =
          m_Pyramid.GetSchedule()[level][d] / (level + 1 < levels ? m_Pyramid.GetSchedule()[level + 1][d] : 1);
        isCopy = isCopy && factors[d] == 1;
      }
      TOutputImage & output = *m_Pyramid.GetOutput(level);
      if (isCopy)
      {
        output.SetOrigin(before->GetOrigin());
      }
      else
      {
        this->MakeLevel(filter, *before, output, factors, false);
      }
      before->CopyInformation(&output);
    });
  }

private:
  using GeometryType = ImageBase<Dimension>;
  using Factors = std::array<unsigned int, Dimension>;

  /** Sends the input, and calls makeLevel for each level, which leaves it as the engine's volume. */
  template <typename TMakeLevel>
  void
  Run(const TMakeLevel & makeLevel)
  {
    const TInputImage & input = *m_Pyramid.GetInput();
    const auto          region = input.GetLargestPossibleRegion();
    if (!input.GetBufferedRegion().IsInside(region))
    {
      itkGenericExceptionMacro("A pyramid needs all of its input.");
    }
    m_Pyramid.UpdateProgress(0.0f);
    const auto threads = GPURegistrationDetail::MakeParallelFor(m_Pyramid.GetNumberOfWorkUnits());
    m_Engine.Run([&](gpureg::VolumeFilter & filter) {
      filter.SetVolume(GPUVolume::MakeInput<TInputImage, PixelType>(input, region, Precision), threads);
      const unsigned int levels = m_Pyramid.GetNumberOfLevels();
      // The finest needs the most memory: asked for once.
      for (unsigned int level = levels; level-- > 0;)
      {
        TOutputImage & output = *m_Pyramid.GetOutput(level);
        makeLevel(filter, input, level);
        output.SetBufferedRegion(output.GetLargestPossibleRegion());
        output.Allocate();
        GPUVolume::WriteOutput(filter, Precision, output, output.GetBufferedRegion(), threads);
        GPURegistrationDetail::ReportProgress(m_Pyramid,
                                              static_cast<float>(levels - level) / static_cast<float>(levels));
      }
    });
  }

  /** Smooths what the engine holds, of this geometry, and takes the level's voxels out of it.
   * \param smoothsAlways whether an axis that is not shrunk is smoothed too. */
  void
  MakeLevel(gpureg::VolumeFilter & filter,
            const GeometryType &   input,
            TOutputImage &         output,
            const Factors &        factors,
            bool                   smoothsAlways)
  {
    std::array<gpureg::LineConvolution, Dimension> steps;
    const bool                                     shrinks = m_Pyramid.GetUseShrinkImageFilter();
    const auto offset = shrinks ? this->ShrinkGeometry(input, output, factors) : Offset<Dimension>();
    bool       isBetween = false;
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      const int  factor = static_cast<int>(factors[d]);
      const auto from = input.GetLargestPossibleRegion();
      const auto to = output.GetLargestPossibleRegion();
      // Index of the first voxel in the input, from its own first one on; half a voxel beyond if it is between.
      const auto first = to.GetIndex(d) * factor - from.GetIndex(d) + (shrinks ? offset[d] : (factor - 1) / 2);
      const bool isHalf = !shrinks && factor % 2 == 0;
      gpureg::LineConvolution & step = steps[d];
      step.axis = static_cast<int>(d);
      step.taps = smoothsAlways || factor > 1 ? this->MakeGaussian(d, factors[d]) : std::vector<double>{ 1.0 };
      // itk::DiscreteGaussianImageFilter keeps pixels of the output's type from axis to axis.
      step.truncates = IsInteger;
      step.left = static_cast<int>(step.taps.size() / 2);
      step.first = static_cast<int>(first);
      step.step = factor;
      step.outputLength = static_cast<int>(to.GetSize(d));
      step.end = shrinks ? step.outputLength : CountInside(input, output, d);
      if (isHalf && !IsInteger)
      {
        MoveByHalf(step);
      }
      isBetween = isBetween || isHalf;
    }
    if (IsInteger && isBetween)
    {
      this->InterpolateIntegers(filter, steps, factors);
      return;
    }
    // ITK's order: the last axis comes first.
    for (unsigned int d = Dimension; d-- > 0;)
    {
      filter.Convolve(steps[d]);
    }
  }

  static constexpr bool IsInteger = std::is_integral<PixelType>::value;

  /** How many of a level's voxels along an axis, from its first one on, are inside of the input; beyond its last
   * voxel's edge itk::ResampleImageFilter's output is 0. Asked as it asks, since a voxel may be on that very
   * edge: in an image of one slice, say, of which two should make one. */
  static int
  CountInside(const GeometryType & input, const GeometryType & output, unsigned int axis)
  {
    const auto   region = input.GetLargestPossibleRegion();
    const double end = static_cast<double>(region.GetIndex(axis)) + static_cast<double>(region.GetSize(axis)) - 0.5;
    auto         index = output.GetLargestPossibleRegion().GetIndex();
    int          inside = 0;
    for (; inside < static_cast<int>(output.GetLargestPossibleRegion().GetSize(axis)); ++inside, ++index[axis])
    {
      typename GeometryType::PointType point;
      output.TransformIndexToPhysicalPoint(index, point);
      if (!(input.template TransformPhysicalPointToContinuousIndex<double>(point)[axis] < end))
      {
        break;
      }
    }
    return inside;
  }

  /** itk::GaussianOperator's weights, as itk::DiscreteGaussianImageFilter has them made. */
  std::vector<double>
  MakeGaussian(unsigned int axis, unsigned int factor) const
  {
    constexpr unsigned int              MaximumKernelWidth = 32;
    GaussianOperator<double, Dimension> gaussian;
    gaussian.SetDirection(axis);
    gaussian.SetVariance(Math::sqr(0.5 * static_cast<float>(factor)));
    gaussian.SetMaximumKernelWidth(MaximumKernelWidth);
    gaussian.SetMaximumError(m_Pyramid.GetMaximumError());
    gaussian.CreateDirectional();
    std::vector<double> taps(gaussian.Size());
    for (std::size_t t = 0; t < taps.size(); ++t)
    {
      taps[t] = gaussian[static_cast<unsigned int>(t)];
    }
    return taps;
  }

  /** The mean of what a convolution gives at a voxel and at the next, as one convolution. */
  static void
  MoveByHalf(gpureg::LineConvolution & step)
  {
    std::vector<double> taps(step.taps.size() + 1);
    for (std::size_t t = 0; t < step.taps.size(); ++t)
    {
      taps[t] += 0.5 * step.taps[t];
      taps[t + 1] += 0.5 * step.taps[t];
    }
    step.taps = std::move(taps);
  }

  /** Integers are cut off before they are interpolated: the smoothed image is made at both neighbours of a
   * level's voxel. */
  void
  InterpolateIntegers(gpureg::VolumeFilter &                                 filter,
                      const std::array<gpureg::LineConvolution, Dimension> & steps,
                      const Factors &                                        factors) const
  {
    const auto isHalf = [&](unsigned int d) { return factors[d] % 2 == 0; };
    for (unsigned int d = Dimension; d-- > 0;)
    {
      gpureg::LineConvolution smooth = steps[d];
      smooth.run = isHalf(d) ? 2 : 1;
      smooth.outputLength *= smooth.run;
      smooth.end *= smooth.run;
      filter.Convolve(smooth);
    }
    unsigned int last = 0;
    while (!isHalf(last))
    {
      ++last;
    }
    for (unsigned int d = Dimension; d-- > 0;)
    {
      if (isHalf(d))
      {
        gpureg::LineConvolution mean = steps[d];
        mean.taps = { 0.5, 0.5 };
        mean.left = 0;
        mean.first = 0;
        mean.step = 2;
        mean.truncates = d == last;
        filter.Convolve(mean);
      }
    }
  }

  /** Gives the output the geometry that itk::ShrinkImageFilter has in the parent's pipeline; which voxels that
   * one keeps. */
  static Offset<Dimension>
  ShrinkGeometry(const GeometryType & input, TOutputImage & output, const Factors & factors)
  {
    using ShrinkType = ShrinkImageFilter<TOutputImage, TOutputImage>;
    auto geometry = TOutputImage::New();
    geometry->CopyInformation(&input);
    auto shrink = ShrinkType::New();
    shrink->SetInput(geometry);
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      shrink->SetShrinkFactor(d, factors[d]);
    }
    shrink->UpdateOutputInformation();
    output.SetOrigin(shrink->GetOutput()->GetOrigin());
    return GPUShrinkGeometry::FindOffset<Dimension>(*geometry, *shrink->GetOutput(), factors);
  }

  PyramidType &       m_Pyramid;
  GPUVolume::Engine & m_Engine;
};

} // namespace itk

#endif
