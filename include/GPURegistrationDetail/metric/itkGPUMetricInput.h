// SPDX-License-Identifier: Apache-2.0
// Passes a metric's input from ITK's objects to the engine.
#ifndef itkGPUMetricInput_h
#define itkGPUMetricInput_h

#include "GPURegistrationDetail/core/itkGPUConstantMemory.h"
#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/metric/itkGPUMetricFixedGrid.h"
#include "GPURegistrationDetail/metric/itkGPUMetricFixedSamples.h"
#include "GPURegistrationDetail/metric/itkGPUMetricGradient.h"
#include "GPURegistrationDetail/metric/itkGPUMetricImages.h"
#include "GPURegistrationDetail/metric/itkGPUMetricMovingImage.h"
#include "GPURegistrationDetail/metric/itkGPUMetricScales.h"
#include "GPURegistrationDetail/metric/itkGPUMetricSources.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/core/itkGPUUndisturbed.h"

#include "gpureg/core/Error.h"
#include "gpureg/metric/Metric.h"
#include "gpureg/image/Source.h"

#include "itkCentralDifferenceImageFunction.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace itk
{
namespace GPURegistrationDetail
{

/** Uploads a metric's samples and moving image to its engine when they have changed. The metric names this class a friend. */
template <typename TMetric>
class MetricInput
{
public:
  /** Makes the input of a metric.
   * \param metric the metric.
   * \param images the metric's images, summarised before Initialize(). */
  MetricInput(const TMetric & metric, MetricImages<TMetric> & images)
    : m_Metric(metric)
    , m_Images(images)
  {}

  /** Forgets what was uploaded, for another engine. */
  void
  Forget()
  {
    m_ResidentFixed.Forget();
    m_ResidentPoints.Forget();
    m_ResidentMoving.Forget();
  }

  /** Forgets the samples, which are then made again: that is quick, and samples depend on too much to compare all of it. */
  void
  BeginInitialize()
  {
    m_ResidentFixed.Forget();
    m_InitialFixedHash.reset();
    m_InitialMovingHash.reset();
  }

  /** Sets whether the device computes the moving image's gradient, and the fixed image's: see MetricGradient. */
  void
  SetMakesGradients(bool ofMoving, bool ofFixed)
  {
    m_MakesGradient = ofMoving;
    m_MakesFixedGradient = ofFixed;
  }

  /** Uploads to the engine what has changed since the last upload. Called at the metric's Initialize().
   *  \param engine the engine.
   *  \param computeScales returns the metric's scales for the current voxels.
   *  \param describe sets what the metric needs of the fixed samples: see DescribeByBins(). */
  template <typename TComputeScales, typename TDescribe>
  void
  Initialize(gpureg::Metric & engine, const TComputeScales & computeScales, const TDescribe & describe)
  {
    m_Scales = computeScales();
    Sources sources = this->CompareSources();
    m_InitialFixedHash = GetHashOfAll(sources.fixed);
    m_InitialMovingHash = GetHashOfAll(sources.moving);
    sources.moving.found.isSame = sources.moving.found.isSame && !m_IsGradientOfOldValues;
    m_IsGradientOfOldValues = false;
    this->Upload(engine, describe, sources, { false, false });
  }

  /** Uploads to the engine what has changed since the last upload. Called between two calls of Initialize(): the moving image's range
   *  and both gradients remain those of the voxels at Initialize(), as in ITK's metrics.
   *  \param engine the engine.
   *  \param computeScales returns the metric's scales for the current voxels.
   *  \param describe sets what the metric needs of the fixed samples: see DescribeByBins().
   *  \throws GPUBadInputError if values are no longer finite. */
  template <typename TComputeScales, typename TDescribe>
  void
  Refresh(gpureg::Metric & engine, const TComputeScales & computeScales, const TDescribe & describe)
  {
    Sources    sources = this->CompareSources();
    Compared & fixed = sources.fixed;
    Compared & moving = sources.moving;
    if (fixed.found.isSame && moving.found.isSame)
    {
      // The images are unchanged, and the scales are theirs; only the points may have changed.
      this->Upload(engine, describe, sources, { true, false });
      return;
    }
    const ImagesOnDevice<TMetric> images(m_Images, engine.GetDeviceName());
    m_Images.CheckAreFinite();
    if (!m_Scales.checksRange)
    {
      // The data on the device was made with other scales.
      m_Scales = computeScales();
      fixed.found.isSame = false;
      moving = this->Compare(m_ResidentMoving, this->GetMovingSource(), moving.found.hash);
    }
    m_IsGradientOfOldValues = m_IsGradientOfOldValues || !moving.found.isSame;
    const bool mayLeaveRange = !moving.found.hash || moving.found.hash != m_InitialMovingHash;
    this->Upload(engine, describe, sources, { true, mayLeaveRange });
  }

  /** Returns true if hashes show that the fixed image has the values of the last Initialize(), and everything else is unchanged from
   *  which samples are made, or if that is unknown. */
  bool
  HasFixedVoxelsOfInitialize() const
  {
    return !m_InitialFixedHash ||
           *m_InitialFixedHash == this->Hash(MetricSources<TMetric>(m_Metric).GetFixedSource(!m_MakesFixedGradient));
  }

  /** Returns true if hashes show that the moving image has the values of the last Initialize(), or if that is unknown. */
  bool
  HasMovingVoxelsOfInitialize() const
  {
    return !m_InitialMovingHash || *m_InitialMovingHash == this->Hash(this->GetMovingSource());
  }

  /** Warns if voxels have changed since Initialize(), before ITK's class makes what it would have made there.
   *  \param what what is made.
   *  \param hasVoxelsOfInitialize false if voxels are known to have changed. */
  void
  WarnIfRefilled(const std::string & what, bool hasVoxelsOfInitialize) const
  {
    if (!hasVoxelsOfInitialize)
    {
      m_Metric.m_Use.WarnOnce(m_Metric,
                              "An image was filled with other values after Initialize(): for ITK's own classes, " +
                                what + " is made of them, where ITK would have made it of those before.");
    }
  }

  /** Makes ITK's image of the fixed image's gradient from the current voxels, if a device has computed its own gradient instead. */
  void
  MakeFixedGradientImage() const
  {
    if (m_MakesFixedGradient && m_Metric.m_FixedImageGradientImage.IsNull())
    {
      this->WarnIfRefilled("the fixed image's gradient", this->HasFixedVoxelsOfInitialize());
      MetricGradient<TMetric>(m_Metric).MakeFixedImage();
    }
  }

  /** Makes ITK's image of the moving image's gradient from the current voxels, if a device has computed its own gradient instead. */
  void
  MakeGradientImage() const
  {
    if (m_MakesGradient && m_Metric.m_MovingImageGradientImage.IsNull())
    {
      this->WarnIfRefilled("the moving image's gradient", this->HasMovingVoxelsOfInitialize());
      MetricGradient<TMetric>(m_Metric).MakeImage();
    }
  }

  /** Returns the scales of the last upload. */
  const MetricScales &
  GetScales() const
  {
    return m_Scales;
  }

  /** Returns what the device does not support in the input; empty if it supports everything. */
  std::string
  FindUnsupportedFeature() const
  {
    const auto * const interpolator = m_Metric.m_MovingInterpolator.GetPointer();
    unsigned int       order = 0;
    const bool         isSpline =
      VisitSplineInterpolator(interpolator, [&order](const auto & spline) { order = spline.GetSplineOrder(); });
    if (isSpline && order == 1)
    {
      // A B-spline interpolator mirrors at the edge, where linear interpolation repeats the last voxel.
      return std::string("The moving interpolator ") + interpolator->GetNameOfClass() + " of order 1";
    }
    if (!isSpline && !IsExactly<LinearInterpolateImageFunction<MovingImageType, CoordinateType>>(interpolator) &&
        !IsExactly<NearestNeighborInterpolateImageFunction<MovingImageType, CoordinateType>>(interpolator))
    {
      return std::string("The moving interpolator ") + interpolator->GetNameOfClass();
    }
    if (m_Metric.m_MovingImageMask.IsNotNull() &&
        !IsExactly<ImageMaskSpatialObject<ImageDimension>>(m_Metric.m_MovingImageMask))
    {
      return std::string("The moving mask ") + m_Metric.m_MovingImageMask->GetNameOfClass();
    }
    if (!m_Metric.GetGradientSourceIncludesMoving())
    {
      return "";
    }
    if (m_Metric.m_UseMovingImageGradientFilter)
    {
      if (!m_MakesGradient &&
          (m_Metric.m_MovingImageGradientImage.IsNull() ||
           m_Metric.m_MovingImageGradientImage->GetBufferedRegion() != m_Metric.m_MovingImage->GetBufferedRegion()))
      {
        return "A moving gradient image of another region than the moving image";
      }
    }
    else if (!IsExactly<typename Superclass::DefaultMovingImageGradientCalculator>(
               m_Metric.m_MovingImageGradientCalculator) ||
             !m_Metric.m_DefaultMovingImageGradientCalculator->GetUseImageDirection() ||
             m_Metric.m_MovingImageGradientCalculator.GetPointer() !=
               m_Metric.m_DefaultMovingImageGradientCalculator.GetPointer())
    {
      return std::string("The moving gradient calculator ") +
             m_Metric.m_MovingImageGradientCalculator->GetNameOfClass();
    }
    return "";
  }

private:
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using Superclass = typename TMetric::Superclass;
  using CoordinateType = typename Superclass::CoordinateRepresentationType;
  using MovingImageType = typename TMetric::MovingImageType;

  gpureg::ParallelFor
  GetParallelFor() const
  {
    return MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits());
  }

  /** Returns the precision in which the samples' and the moving image's values are stored. */
  gpureg::Precision
  ChoosePrecision() const
  {
    return MetricFixedSamples<TMetric>(m_Metric, m_Images, m_Scales).ChoosePrecision();
  }

  std::uint64_t
  Hash(const gpureg::Source & source) const
  {
    return gpureg::HashContent(source.memory, this->GetParallelFor());
  }

  /** Returns true if a part of a source's memory is constant, so that its hash leaves out this part. */
  static bool
  HasConstantMemory(const gpureg::Source & source)
  {
    return ConstantMemory::GetVariable(source.memory).size() < source.memory.size();
  }

  /** Returns the source of the moving image, including how its voxels are stored on the device. */
  gpureg::Source
  GetMovingSource() const
  {
    gpureg::Source moving = MetricSources<TMetric>(m_Metric).GetMovingSource(!m_MakesGradient);
    AddToKey(moving.key, static_cast<double>(m_MakesGradient));
    AddToKey(moving.key, static_cast<double>(this->ChoosePrecision() == gpureg::Precision::Double));
    AddToKey(moving.key, m_Scales.minimum);
    AddToKey(moving.key, m_Scales.unit);
    return moving;
  }

  using Hashes = std::array<std::optional<std::uint64_t>, 3>;

  /** Holds what samples or a moving image are made from, and whether the engine has the same. */
  struct Compared
  {
    gpureg::Source                     source;
    gpureg::ResidentSource::Comparison found;
  };

  /** Returns the hash of a source, which comparisons with later hashes of all its memory need; none if it leaves out constant memory. */
  static std::optional<std::uint64_t>
  GetHashOfAll(const Compared & compared)
  {
    return HasConstantMemory(compared.source) ? std::nullopt : compared.found.hash;
  }

  /** Holds the comparisons of the samples, of the points, and of the moving image. */
  struct Sources
  {
    Compared fixed;
    Compared points;
    Compared moving;
  };

  /** Compares the sources with what the engine has. If keys are not trusted, it hashes all of them, new ones as well, since the next
   * evaluation compares with their hashes. Constant memory is left out: the key contains its address. */
  Sources
  CompareSources()
  {
    const MetricSources<TMetric> sources(m_Metric);
    const gpureg::Source         fixed = sources.GetFixedSource(!m_MakesFixedGradient);
    const gpureg::Source         points = sources.GetPointsSource();
    const gpureg::Source         moving = this->GetMovingSource();
    Hashes                       hashes;
    if (!fixed.isKeyTrusted)
    {
      const std::uint64_t time = this->FindUndisturbedTime();
      if (time == 0 || time != m_TimeOfHashes)
      {
        const auto ofFixed = ConstantMemory::GetVariable(fixed.memory);
        const auto ofPoints = ConstantMemory::GetVariable(points.memory);
        const auto ofMoving = ConstantMemory::GetVariable(moving.memory);
        const auto found = gpureg::HashContents({ &ofFixed, &ofPoints, &ofMoving }, this->GetParallelFor());
        std::copy(found.begin(), found.end(), m_Hashes.begin());
        m_TimeOfHashes = time;
      }
      hashes = m_Hashes;
    }
    return { this->Compare(m_ResidentFixed, fixed, hashes[0]),
             this->Compare(m_ResidentPoints, points, hashes[1]),
             this->Compare(m_ResidentMoving, moving, hashes[2]) };
  }

  /** Returns the number of the time in which the program changes no memory; 0 if there is none. */
  std::uint64_t
  FindUndisturbedTime() const
  {
    return CallsObservers<CoordinateType, ImageDimension>(*m_Metric.m_MovingTransform) ? 0 : Undisturbed::GetCurrent();
  }

  /** Compares a source with what the engine has.
   * \param resident what the engine has.
   * \param source the source.
   * \param hash the hash of the source's memory; none if keys are trusted. */
  Compared
  Compare(const gpureg::ResidentSource &       resident,
          const gpureg::Source &               source,
          const std::optional<std::uint64_t> & hash) const
  {
    return { source, hash ? resident.Compare(source, *hash) : resident.Compare(source, this->GetParallelFor()) };
  }

  /** Calls make(image). If the device's memory does not hold both the image and what is made from it, gives up the images, and calls
   * make(null). */
  template <typename TMake>
  void
  MakeOf(const gpureg::LoadedImage * image, const TMake & make)
  {
    try
    {
      make(image);
      return;
    }
    catch (const gpureg::OutOfMemoryError &)
    {
      if (image == nullptr)
      {
        throw;
      }
    }
    m_Images.Release();
    make(static_cast<const gpureg::LoadedImage *>(nullptr));
  }

  /** Describes how an upload may differ from the upload of an Initialize(). */
  struct SinceInitialize
  {
    /** True if the fixed image's gradient stays. */
    bool keepsFixedGradient;
    /** True if the moving voxels may have changed since their range was computed. */
    bool mayLeaveRange;
  };

  /** Returns how the device computes the fixed image's gradient, if it does. Otherwise makes ITK's gradient image, unless it exists.
   *  \param image the image on the device, or null.
   *  \param keepsLast see gpureg::GaussianGradient. */
  std::optional<gpureg::GaussianGradient>
  DescribeFixedGradient(const gpureg::LoadedImage * image, bool keepsLast) const
  {
    const bool samplesVoxels = !m_Metric.m_UseSampledPointSet && image != nullptr;
    if (m_MakesFixedGradient && samplesVoxels && MetricFixedGrid<TMetric>(m_Metric).IsOneGrid())
    {
      return MetricGradient<TMetric>(m_Metric).DescribeFixed(keepsLast);
    }
    this->MakeFixedGradientImage();
    return std::nullopt;
  }

  /** Returns how the device computes the moving image's gradient, if it does. */
  std::optional<gpureg::GaussianGradient>
  DescribeMovingGradient() const
  {
    return m_MakesGradient && m_Metric.m_UseMovingImageGradientFilter && m_Metric.GetGradientSourceIncludesMoving()
             ? std::make_optional(MetricGradient<TMetric>(m_Metric).Describe(m_IsGradientOfOldValues))
             : std::nullopt;
  }

  /** Uploads what differs from what the engine has. */
  template <typename TDescribe>
  void
  Upload(gpureg::Metric & engine, const TDescribe & describe, const Sources & sources, const SinceInitialize & since)
  {
    const Compared & fixed = sources.fixed;
    const Compared & points = sources.points;
    const Compared & moving = sources.moving;
    if (!fixed.found.isSame || !points.found.isSame)
    {
      m_ResidentFixed.Forget();
      m_ResidentPoints.Forget();
      this->MakeOf(m_Images.GetLoadedFixed(), [&](const gpureg::LoadedImage * image) {
        const auto                  gradient = this->DescribeFixedGradient(image, since.keepsFixedGradient);
        MetricFixedSamples<TMetric> samples(m_Metric, m_Images, m_Scales);
        engine.SetFixedSamples(samples.Make(describe, image, gradient), this->GetParallelFor());
      });
      m_ResidentFixed.Remember(fixed.source, fixed.found);
      m_ResidentPoints.Remember(points.source, points.found);
    }
    if (!moving.found.isSame)
    {
      m_ResidentMoving.Forget();
      this->MakeOf(m_Images.GetLoadedMoving(), [&](const gpureg::LoadedImage * image) {
        MetricMovingImage<TMetric> moving(m_Metric, m_Images, m_Scales);
        engine.SetMovingImage(
          moving.Make(image, this->ChoosePrecision(), this->DescribeMovingGradient(), since.mayLeaveRange),
          this->GetParallelFor());
      });
      m_ResidentMoving.Remember(moving.source, moving.found);
    }
  }

  const TMetric &         m_Metric;
  MetricImages<TMetric> & m_Images;
  gpureg::ResidentSource  m_ResidentFixed;
  gpureg::ResidentSource  m_ResidentPoints;
  gpureg::ResidentSource  m_ResidentMoving;
  MetricScales            m_Scales;
  /** The last hashes of the samples, points and moving image, and the undisturbed period (see Undisturbed) in which they were computed. */
  Hashes                       m_Hashes;
  std::uint64_t                m_TimeOfHashes{ 0 };
  std::optional<std::uint64_t> m_InitialFixedHash;
  std::optional<std::uint64_t> m_InitialMovingHash;
  bool                         m_MakesGradient{ false };
  bool                         m_MakesFixedGradient{ false };
  bool                         m_IsGradientOfOldValues{ false };
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
