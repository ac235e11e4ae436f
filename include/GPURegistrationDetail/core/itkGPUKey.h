// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUKey_h
#define itkGPUKey_h

#include "gpureg/image/Source.h"

#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkMatrixOffsetTransformBase.h"

namespace itk
{
/** What ITK's objects add to the key of what is made from them. */
namespace GPURegistrationDetail
{

using gpureg::AddToKey;

/** An object's address and time stamp: time stamps are unique, so a new object at an old address shows. */
inline void
AddToKey(gpureg::Key & key, const Object * object)
{
  key.push_back(reinterpret_cast<std::uintptr_t>(object));
  key.push_back(object != nullptr ? static_cast<std::uintptr_t>(object->GetMTime()) : 0);
}

/** The same of an image whose voxels count: its buffer may be another one, or have been made anew by its filter. */
template <typename TImage>
void
AddVoxelsToKey(gpureg::Key & key, const TImage & image)
{
  AddToKey(key, &image);
  key.push_back(reinterpret_cast<std::uintptr_t>(image.GetBufferPointer()));
  key.push_back(static_cast<std::uintptr_t>(image.GetUpdateMTime()));
}

template <typename TImage>
gpureg::MemoryRange
GetBuffer(const TImage & image)
{
  const auto * const pixels = image.GetPixelContainer();
  return { image.GetBufferPointer(), pixels->Size() * sizeof(*image.GetBufferPointer()) };
}

/** Where an image's voxels come from. */
template <typename TImage>
gpureg::Source
MakeSource(const TImage & image)
{
  gpureg::Source source;
  AddVoxelsToKey(source.key, image);
  source.memory.push_back(GetBuffer(image));
  return source;
}

/** What a composite's SetParameters() does to fields. Where it sets several parts, it writes into a field's buffer, and
 * changes no time stamp of the field or of its transform. It changes that of a linear or B-spline transform which is set
 * along with it. */
template <typename TScalar, unsigned int VDimension>
class CompositeParameters
{
public:
  using CompositeType = CompositeTransform<TScalar, VDimension>;

  explicit CompositeParameters(const CompositeType & composite)
    : m_Composite(composite)
  {
    using LinearType = MatrixOffsetTransformBase<TScalar, VDimension, VDimension>;
    for (SizeValueType n = 0; n < composite.GetNumberOfTransforms(); ++n)
    {
      const auto * const part = composite.GetNthTransformConstPointer(n);
      if (composite.GetNthTransformToOptimize(n))
      {
        ++m_NumberOfSetParts;
        m_ChangeTimeStamp = m_ChangeTimeStamp || dynamic_cast<const LinearType *>(part) != nullptr ||
                            part->GetTransformCategory() == TransformBaseTemplateEnums::TransformCategory::BSpline;
      }
    }
  }

  /** Whether a part's field may be written to without a time stamp of its own that tells. */
  bool
  OverwriteFieldOf(SizeValueType n) const
  {
    return m_NumberOfSetParts > 1 && m_Composite.GetNthTransformToOptimize(n) &&
           dynamic_cast<const DisplacementFieldTransform<TScalar, VDimension> *>(
             m_Composite.GetNthTransformConstPointer(n));
  }

  /** Whether then a time stamp of another part tells. */
  bool
  ChangeTimeStamp() const
  {
    return m_ChangeTimeStamp;
  }

private:
  const CompositeType & m_Composite;
  SizeValueType         m_NumberOfSetParts{ 0 };
  bool                  m_ChangeTimeStamp{ false };
};

/** A transform with its parts and its field, whose changes it does not pass on to its own time stamp. */
template <typename TScalar, unsigned int VDimension>
void
AddTransformToKey(gpureg::Key & key, const Transform<TScalar, VDimension, VDimension> * transform)
{
  AddToKey(key, transform);
  if (const auto * const composite = dynamic_cast<const CompositeTransform<TScalar, VDimension> *>(transform))
  {
    for (SizeValueType n = 0; n < composite->GetNumberOfTransforms(); ++n)
    {
      AddTransformToKey<TScalar, VDimension>(key, composite->GetNthTransformConstPointer(n));
    }
  }
  else if (const auto * const field = dynamic_cast<const DisplacementFieldTransform<TScalar, VDimension> *>(transform))
  {
    AddToKey(key, field->GetDisplacementField());
  }
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
