// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUPyramidGenerator_h
#define itkGPUPyramidGenerator_h

#include "GPURegistrationDetail/filter/itkGPULevelPositions.h"
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
 * ITK uses several filters, each over all voxels (itk::DiscreteGaussianImageFilter, then itk::ResampleImageFilter or
 * itk::ShrinkImageFilter). Here one convolution along each axis does all of this, and is computed only at the level's voxels: linear
 * interpolation half-way between two voxels is part of its weights. If that is not enough (IsInterpolated()), the convolution is
 * computed at the neighbours of the level's voxels, and interpolated between them. The image is uploaded once, and stays on the device
 * for all levels.
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

  /** The input is first cast to the output's type, so that the output must be a type that the engine can hold. A cast to bool gives true
   * for every value but 0, where a cast to integers truncates. */
  static constexpr bool IsOfKnownTypes =
    static_cast<unsigned int>(TInputImage::ImageDimension) == Dimension && (Dimension == 2 || Dimension == 3) &&
    GPURegistrationDetail::StoresPixels<TInputImage> && std::is_arithmetic<typename TInputImage::PixelType>::value &&
    GPUVolume::FitsIntoDouble<PixelType> && !std::is_same<PixelType, bool>::value;

  static constexpr gpureg::Precision Precision =
    GPUVolume::FitsIntoFloat<PixelType> ? gpureg::Precision::Single : gpureg::Precision::Double;

  GPUPyramidGenerator(PyramidType & pyramid, GPUVolume::Engine & engine)
    : m_Pyramid(pyramid)
    , m_Engine(engine)
  {}

  /** Makes all levels, from the finest on, each from the input.
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

  /** Makes all levels, from the finest on, each from the level before, as itk::RecursiveMultiResolutionPyramidImageFilter does. The
   * schedule is downward divisible. */
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

  /** Uploads the input, and calls makeLevel for each level, which must leave the level as the engine's volume. */
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
      // The finest level comes first: it needs the most memory, which is then allocated once.
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

  /** Describes one axis of a level: the convolution along it, and the positions of its voxels in the input. */
  struct LevelAxis
  {
    gpureg::LineConvolution      smooth;
    GPULevelPositions::Positions positions;
    bool                         isHalf = false;
  };

  /** Smooths the engine's volume, and keeps the level's voxels.
   * \param filter the engine with the volume.
   * \param input the geometry of the volume.
   * \param output the level.
   * \param factors the shrink factor along each axis.
   * \param smoothsAlways true to smooth also along axes that are not shrunk. */
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
      // Index of the level's first voxel in the input, relative to the input's first voxel; the voxel lies half a voxel further if
      // isHalf.
      const auto  first = to.GetIndex(d) * factor - from.GetIndex(d) + (shrinks ? offset[d] : (factor - 1) / 2);
      LevelAxis & axis = axes[d];
      gpureg::LineConvolution & smooth = axis.smooth;
      smooth.axis = static_cast<int>(d);
      smooth.taps = smoothsAlways || factor > 1 ? this->MakeGaussian(d, factors[d]) : std::vector<double>{ 1.0 };
      // itk::DiscreteGaussianImageFilter stores pixels of the output's type between two axes.
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
    // ITK convolves along the last axis first.
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

  /** Returns true if one convolution does not give the level's voxels along an axis: if voxels lie beyond the last input voxel, where
   * there is nothing to interpolate with; and for integers, which are truncated before and after they are interpolated, so that a voxel
   * that rounding has put just before an input voxel differs. */
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

  /** Computes the smoothed image at the neighbours of a level's voxels along each axis, and interpolates between them. */
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
      // Rounding may put a voxel that should lie on an input voxel just before or just behind it.
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
        // index of the neighbour among the convolution's outputs
        grid.cells[d].push_back(!isInside || isDense ? cell : j * run + cell - (smooth.first + j * smooth.step));
      }
    }
    filter.Interpolate(grid);
  }

  /** Returns the weights of itk::GaussianOperator as itk::DiscreteGaussianImageFilter uses it. */
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

  /** Changes a convolution into one that gives the mean of its values at a voxel and at the next voxel. */
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

  /** Gives the output the origin that itk::ShrinkImageFilter gives it in the parent's pipeline, and returns the offset of the pixels
   * that the shrink filter keeps. */
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
    return GPUShrinkGeometry::ComputeOffset<Dimension>(*geometry, *shrink->GetOutput(), factors);
  }

  PyramidType &       m_Pyramid;
  GPUVolume::Engine & m_Engine;
};

} // namespace itk

#endif
