// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUKey_h
#define itkGPUKey_h

#include "gpureg/image/Source.h"

#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkMatrixOffsetTransformBase.h"

namespace itk
{
/** Builds the keys of arrays that are made from ITK's objects. */
namespace GPURegistrationDetail
{

using gpureg::AddToKey;

/** Appends an object's address and time stamp. Time stamps are unique, so that a new object at an old address has another key. */
inline void
AddToKey(gpureg::Key & key, const Object * object)
{
  key.push_back(reinterpret_cast<std::uintptr_t>(object));
  key.push_back(object != nullptr ? static_cast<std::uintptr_t>(object->GetMTime()) : 0);
}

/** Appends an image's address, time stamp and buffer, and the time at which its filter updated it: all on which its voxels depend. */
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

/** Returns the source that an image's voxels are. */
template <typename TImage>
gpureg::Source
MakeSource(const TImage & image)
{
  gpureg::Source source;
  AddVoxelsToKey(source.key, image);
  source.memory.push_back(GetBuffer(image));
  return source;
}

/** Describes what a composite's SetParameters() does to displacement fields. If it sets several transforms, it writes into a field's buffer
 * without changing a time stamp of the field or of its transform. It does change the time stamp of a linear or B-spline transform that
 * is set along with the field. */
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

  /** Returns true if the field of transform n may be overwritten without a change of its own time stamp. */
  bool
  OverwriteFieldOf(SizeValueType n) const
  {
    return m_NumberOfSetParts > 1 && m_Composite.GetNthTransformToOptimize(n) &&
           dynamic_cast<const DisplacementFieldTransform<TScalar, VDimension> *>(
             m_Composite.GetNthTransformConstPointer(n));
  }

  /** Returns true if another transform's time stamp changes when a field is overwritten. */
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

/** Appends a transform, and its parts and field, since a transform's time stamp does not include theirs. */
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
