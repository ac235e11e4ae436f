// SPDX-License-Identifier: Apache-2.0
#ifndef itkRegistrationImagePair_h
#define itkRegistrationImagePair_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"

#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"
#include "gpureg/registration/free_form/FreeFormChoices.h"

#include "itkFixedArray.h"
#include "itkObject.h"
#include "itkSpatialObject.h"

#include <algorithm>
#include <string>

namespace itk
{

/** \class RegistrationImagePair
 * \brief Holds two images that a registration compares beside its own: T2-weighted ones beside T1-weighted ones, channels of label maps, or
 * the same images by another similarity.
 *
 * The images lie in the spaces of the method's own fixed and moving image. By the greedy scheme the fixed image has the voxels of the
 * method's fixed image; else it may have any, as the moving image may.
 *
 * \code
 * auto pair = itk::RegistrationImagePair<Image, Image>::New();
 * pair->SetFixedImage(fixedT2);
 * pair->SetMovingImage(movingT2);
 * pair->SetWeight(0.5); // the method's own images have 1
 * method->AddImagePair(pair);
 * \endcode
 *
 * \sa DiffeomorphicRegistrationMethod
 * \ingroup GPURegistration
 */
template <typename TFixedImage, typename TMovingImage>
class ITK_TEMPLATE_EXPORT RegistrationImagePair : public Object
{
public:
  itkGPUClassMacro(RegistrationImagePair, Object);

  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  using FixedImageType = TFixedImage;
  using MovingImageType = TMovingImage;
  using MaskType = SpatialObject<ImageDimension>;
  using ValueRangeType = FixedArray<double, 2>;
  using SimilarityEnum = gpureg::SimilarityKind;

  itkSetConstObjectMacro(FixedImage, FixedImageType);
  itkGetConstObjectMacro(FixedImage, FixedImageType);
  itkSetConstObjectMacro(MovingImage, MovingImageType);
  itkGetConstObjectMacro(MovingImage, MovingImageType);

  /** Set the regions that are compared, as DeviceRegistrationMethod::SetFixedImageMask() does. Default: no masks, all voxels. */
  itkSetConstObjectMacro(FixedImageMask, MaskType);
  itkGetConstObjectMacro(FixedImageMask, MaskType);
  itkSetConstObjectMacro(MovingImageMask, MaskType);
  itkGetConstObjectMacro(MovingImageMask, MaskType);

  /** Sets the similarity, as DiffeomorphicRegistrationMethod::SetSimilarity() does. */
  itkGPUChoiceMacro(Similarity, SimilarityEnum, gpureg::GetFieldSimilarityKind);

  /** Sets the number of bins of a similarity that has bins. Default: 32. */
  itkSetMacro(NumberOfHistogramBins, unsigned int);
  itkGetConstMacro(NumberOfHistogramBins, unsigned int);

  /** Sets the radius of the neighborhoods, in a level's voxels. Default: 2. */
  itkSetMacro(NeighborhoodRadius, unsigned int);
  itkGetConstMacro(NeighborhoodRadius, unsigned int);

  /** Sets the pair's share of each update, relative to the weights of the other pairs. 0: the pair is left out. Default: 1. */
  itkSetMacro(Weight, double);
  itkGetConstMacro(Weight, double);

  /** Set the least and the greatest value that the method distinguishes, as DeviceRegistrationMethod::SetFixedImageRange() does. */
  itkSetMacro(FixedImageRange, ValueRangeType);
  itkGetConstReferenceMacro(FixedImageRange, ValueRangeType);
  itkSetMacro(MovingImageRange, ValueRangeType);
  itkGetConstReferenceMacro(MovingImageRange, ValueRangeType);

  /** Returns the latest modification time of this object and the masks. */
  ModifiedTimeType
  GetMTime() const override
  {
    using GPURegistrationDetail::GetTimeOf;
    return std::max({ Superclass::GetMTime(),
                      GetTimeOf<ImageDimension>(m_FixedImageMask.GetPointer()),
                      GetTimeOf<ImageDimension>(m_MovingImageMask.GetPointer()) });
  }

protected:
  RegistrationImagePair() = default;
  ~RegistrationImagePair() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    itkPrintSelfObjectMacro(FixedImage);
    itkPrintSelfObjectMacro(MovingImage);
    itkPrintSelfObjectMacro(FixedImageMask);
    itkPrintSelfObjectMacro(MovingImageMask);
    os << indent << "Similarity: " << m_Similarity << std::endl;
    os << indent << "NumberOfHistogramBins: " << m_NumberOfHistogramBins << std::endl;
    os << indent << "NeighborhoodRadius: " << m_NeighborhoodRadius << std::endl;
    os << indent << "Weight: " << m_Weight << std::endl;
    os << indent << "FixedImageRange: " << m_FixedImageRange << std::endl;
    os << indent << "MovingImageRange: " << m_MovingImageRange << std::endl;
  }

private:
  typename FixedImageType::ConstPointer  m_FixedImage;
  typename MovingImageType::ConstPointer m_MovingImage;
  typename MaskType::ConstPointer        m_FixedImageMask;
  typename MaskType::ConstPointer        m_MovingImageMask;
  SimilarityEnum                         m_Similarity{ gpureg::FurtherPair().similarity.kind };
  unsigned int                           m_NumberOfHistogramBins{ 32 };
  unsigned int                           m_NeighborhoodRadius{ 2 };
  double                                 m_Weight{ 1 };
  ValueRangeType                         m_FixedImageRange{ ValueRangeType::Filled(0) };
  ValueRangeType                         m_MovingImageRange{ ValueRangeType::Filled(0) };
};

} // namespace itk

#endif
