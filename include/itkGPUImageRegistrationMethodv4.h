// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUImageRegistrationMethodv4_h
#define itkGPUImageRegistrationMethodv4_h

#include "GPURegistrationDetail/core/itkGPUConstantMemory.h"
#include "GPURegistrationDetail/core/itkGPUMembers.h"

#include "itkImageRegistrationMethodv4.h"
#include "itkMersenneTwisterRandomVariateGenerator.h"

#include <cstdint>
#include <vector>

namespace itk
{

/** \class GPUImageRegistrationMethodv4
 * \brief Makes itk::ImageRegistrationMethodv4 quick with this module's metrics, filters and optimizers.
 *
 * The class replaces itk::ImageRegistrationMethodv4, from which it is derived. ITK's code runs levels and optimizer: interface, events,
 * sampled points and results are ITK's, to the last bit. Two things differ:
 * - **Sampling.** SetMetricSamplePoints() draws the points of the strategies REGULAR and RANDOM on all threads, where ITK draws three
 *   normal numbers a point on one. Points, their order and their bits are ITK's, and so is the sequence of seeds.
 * - **Proofs.** A metric that replaces ITK's looks at all values of its images before it uses its copy on the device, since the program
 *   may have changed them. During a level it does not look at those that this method alone has made: images that it has smoothed, and
 *   points that it has drawn. ITK hands them out as constant, so that a program changes neither without casting constness away, or from
 *   Python, which has none. The method takes a hash of them when a level begins, and another when it ends, and throws a
 *   GPUBadInputError if they differ: no result of a changed image passes for ITK's. The override throws it, too, since the level's
 *   optimizer has moved the transform, from which ITK's code could not begin again.
 *
 * The program's own images, which a level without smoothing gives to the metric, and masks, are looked at as before: at each evaluation,
 * and once for an iteration of one of ITK's optimizers that search along a line. So a program may change its images between two
 * calls of Update(), between levels, and, where they are not smoothed, at any event.
 *
 * \code
 * auto method = itk::GPUImageRegistrationMethodv4<Image, Image, itk::AffineTransform<double, 3>>::New();
 * method->SetFixedImage(fixed);
 * method->SetMovingImage(moving);
 * method->SetMetric(metric);
 * method->SetMetricSamplingStrategy(decltype(method)::ObjectType::MetricSamplingStrategyEnum::REGULAR);
 * method->SetMetricSamplingPercentage(0.25);
 * method->Update();
 * \endcode
 *
 * \tparam TFixedImage, TMovingImage images of scalars.
 * \tparam TOutputTransform the transform to optimize.
 *
 * \sa GPUSyNImageRegistrationMethod, GPURegistrationFactory
 * \ingroup GPURegistration
 */
template <typename TFixedImage,
          typename TMovingImage,
          typename TOutputTransform = Transform<double, TFixedImage::ImageDimension, TFixedImage::ImageDimension>,
          typename TVirtualImage = TFixedImage,
          typename TPointSet = PointSet<unsigned int, TFixedImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT GPUImageRegistrationMethodv4
  : public ImageRegistrationMethodv4<TFixedImage, TMovingImage, TOutputTransform, TVirtualImage, TPointSet>
{
public:
  itkGPUClassMacro(GPUImageRegistrationMethodv4,
                   ImageRegistrationMethodv4<TFixedImage, TMovingImage, TOutputTransform, TVirtualImage, TPointSet>);

  using Superclass::ImageDimension;
  using typename Superclass::ImageMetricType;
  using typename Superclass::MetricSamplePointSetType;
  using typename Superclass::MetricSamplingStrategyEnum;
  using typename Superclass::MultiMetricType;

protected:
  GPUImageRegistrationMethodv4() = default;
  ~GPUImageRegistrationMethodv4() override = default;

  /** Makes this object replace ITK's class: see GPUOverride. */
  void
  OverrideParent()
  {}

  void
  GenerateData() override;

  void
  InitializeRegistrationAtEachLevel(const SizeValueType level) override;

  void
  SetMetricSamplePoints() override;

private:
  /** Returns the metric, or those of a multi-metric; none if one is not a metric of images. */
  std::vector<ImageMetricType *>
  FindImageMetrics() const;

  /** Gives a generator the method's next seed. */
  void
  SeedAsITK(Statistics::MersenneTwisterRandomVariateGenerator & generator);

  /** Draws points of a metric's virtual domain, inside its fixed mask.
   *  \param seed the seed of the normal numbers. */
  typename MetricSamplePointSetType::Pointer
  DrawSamplePoints(const ImageMetricType & metric, std::uint32_t seed);

  /** Names what this method alone has made for a level, so that nobody changes it until EndLevel(). */
  void
  BeginLevel();

  /** Forgets what BeginLevel() named.
   *  \throws GPUBadInputError if it has been changed. */
  void
  EndLevel();

  /** Names the voxels of an image, unless they are those of an input. */
  template <typename TImage>
  void
  NameUnlessInput(const TImage * image, const TImage * input);

  /** Names the memory that nobody changes during a level; null outside of GenerateData(). */
  GPURegistrationDetail::ConstantMemory *                      m_Constant{ nullptr };
  std::vector<typename MetricSamplePointSetType::ConstPointer> m_SamplePoints; // of this level, one for each metric
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUImageRegistrationMethodv4.hxx"
#endif

#endif
