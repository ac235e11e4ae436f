// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUPyramidGenerator_h
#define itkGPUPyramidGenerator_h

#include "GPURegistrationDetail/registration/itkGPULevelPositions.h"
#include "GPURegistrationDetail/filter/itkGPUShrinkGeometry.h"
#include "GPURegistrationDetail/filter/itkGPUVolume.h"

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
 * where the level has voxels: linear interpolation, half-way between two voxels, is one more of its weights. Where
 * that is not all (IsInterpolated()), it is computed at these voxels' neighbours, and interpolated between them.
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

  /** Pyramids are made of what their output can hold: that is what the input is cast to first. To a bool all that is
   * not 0 is true, where other integers are cut off. */
  static constexpr bool IsOfKnownTypes =
    static_cast<unsigned int>(TInputImage::ImageDimension) == Dimension && (Dimension == 2 || Dimension == 3) &&
    GPURegistrationDetail::KeepsPixels<TInputImage> && std::is_arithmetic<typename TInputImage::PixelType>::value &&
    GPUVolume::FitsIntoDouble<PixelType> && !std::is_same<PixelType, bool>::value;

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

  /** An axis of a level: its convolution, and the voxels' places in the input. */
  struct LevelAxis
  {
    gpureg::LineConvolution      smooth;
    GPULevelPositions::Positions positions;
    bool                         isHalf = false;
  };

  /** Smooths what the engine holds, of this geometry, and takes the level's voxels out of it.
   * \param smoothsAlways whether an axis that is not shrunk is smoothed too. */
  void
  MakeLevel(gpureg::VolumeFilter & filter,
            const GeometryType &   input,
            TOutputImage &         output,
            const Factors &        factors,
            bool                   smoothsAlways)
  {
    std::array<LevelAxis, Dimension> axes;
    const bool                       shrinks = m_Pyramid.GetUseShrinkImageFilter();
    const auto offset = shrinks ? this->ShrinkGeometry(input, output, factors) : Offset<Dimension>();
    bool       isInterpolated = false;
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      const int  factor = static_cast<int>(factors[d]);
      const auto from = input.GetLargestPossibleRegion();
      const auto to = output.GetLargestPossibleRegion();
      // Index of the first voxel in the input, from its own first one on; half a voxel beyond if it is between.
      const auto  first = to.GetIndex(d) * factor - from.GetIndex(d) + (shrinks ? offset[d] : (factor - 1) / 2);
      LevelAxis & axis = axes[d];
      gpureg::LineConvolution & smooth = axis.smooth;
      smooth.axis = static_cast<int>(d);
      smooth.taps = smoothsAlways || factor > 1 ? this->MakeGaussian(d, factors[d]) : std::vector<double>{ 1.0 };
      // itk::DiscreteGaussianImageFilter keeps pixels of the output's type from axis to axis.
      smooth.truncates = IsInteger;
      smooth.left = static_cast<int>(smooth.taps.size() / 2);
      smooth.first = static_cast<int>(first);
      smooth.step = factor;
      smooth.outputLength = static_cast<int>(to.GetSize(d));
      smooth.end = smooth.outputLength;
      if (!shrinks)
      {
        axis.positions = GPULevelPositions::Find(input, output, d);
        axis.isHalf = factor % 2 == 0;
        smooth.end = axis.positions.inside;
        isInterpolated = isInterpolated || this->IsInterpolated(axis, static_cast<int>(from.GetSize(d)));
      }
    }
    if (isInterpolated)
    {
      this->Interpolate(filter, axes);
      return;
    }
    // ITK's order: the last axis comes first.
    for (unsigned int d = Dimension; d-- > 0;)
    {
      if (axes[d].isHalf)
      {
        MoveByHalf(axes[d].smooth);
      }
      filter.Convolve(axes[d].smooth);
    }
  }

  static constexpr bool IsInteger = std::is_integral<PixelType>::value;

  /** Whether the level's voxels along an axis are not what one convolution gives. Behind the last voxel there is
   * nothing to interpolate with. And integers are cut off before they are interpolated and after it, which shows what
   * rounding has put just before a voxel. */
  static bool
  IsInterpolated(const LevelAxis & axis, int length)
  {
    for (int j = 0; j < axis.positions.inside; ++j)
    {
      const auto n = static_cast<std::size_t>(j);
      const int  nominal = axis.smooth.first + j * axis.smooth.step;
      const bool isOnEdge = axis.isHalf && nominal + 1 >= length;
      if (isOnEdge || (IsInteger && (axis.positions.fractions[n] > 0.0 || axis.positions.cells[n] != nominal)))
      {
        return true;
      }
    }
    return false;
  }

  /** Makes the smoothed image at the neighbours of a level's voxels along each axis, and interpolates between them. */
  void
  Interpolate(gpureg::VolumeFilter & filter, const std::array<LevelAxis, Dimension> & axes) const
  {
    gpureg::GridInterpolation grid;
    grid.truncates = IsInteger;
    for (unsigned int d = 3; d-- > 0;)
    {
      if (d >= Dimension)
      {
        grid.cells[d] = { 0 };
        grid.fractions[d] = { 0.0 };
        continue;
      }
      gpureg::LineConvolution smooth = axes[d].smooth;
      const auto &            positions = axes[d].positions;
      const int               length = filter.GetSize()[d];
      // Rounding may put a voxel that is none of two neighbours' between either of them and the next.
      const int  before = axes[d].isHalf ? 0 : 1;
      const int  run = axes[d].isHalf ? 2 : 3;
      const bool isDense = smooth.step <= run;
      if (isDense)
      {
        smooth.first = 0;
        smooth.step = 1;
        smooth.outputLength = smooth.end = length;
      }
      else
      {
        smooth.first -= before;
        smooth.run = run;
        smooth.outputLength *= run;
        smooth.end *= run;
      }
      filter.Convolve(smooth);
      for (int j = 0; j < axes[d].smooth.outputLength; ++j)
      {
        const auto n = static_cast<std::size_t>(j);
        const bool isInside = j < positions.inside;
        const int  cell = isInside ? positions.cells[n] : -1;
        grid.fractions[d].push_back(isInside ? positions.fractions[n] : 0.0);
        // Where it lies among what was made.
        grid.cells[d].push_back(!isInside || isDense ? cell : j * run + cell - (smooth.first + j * smooth.step));
      }
    }
    filter.Interpolate(grid);
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
