// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUKey_h
#define itkGPUKey_h

#include "gpureg/Key.h"

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

/** Which of a composite's parts SetParameters() sets, where it sets several. It then writes into a field's buffer, and
 * nobody's time stamp tells of that; but a linear or B-spline transform's that is set with it does. */
template <typename TScalar, unsigned int VDimension>
class SetTogether
{
public:
  using CompositeType = CompositeTransform<TScalar, VDimension>;

  explicit SetTogether(const CompositeType & composite)
    : m_Composite(composite)
  {
    for (SizeValueType n = 0; n < composite.GetNumberOfTransforms(); ++n)
    {
      const auto * const part = composite.GetNthTransformConstPointer(n);
      const bool         isSet = composite.GetNthTransformToOptimize(n);
      m_Count += isSet ? 1 : 0;
      m_IsTold =
        m_IsTold || (isSet && (dynamic_cast<const MatrixOffsetTransformBase<TScalar, VDimension, VDimension> *>(part) ||
                               part->GetTransformCategory() == TransformBaseTemplateEnums::TransformCategory::BSpline));
    }
  }

  /** Whether it may do so to a part's field. */
  bool
  MayChangeFieldOf(SizeValueType n) const
  {
    return m_Count > 1 && m_Composite.GetNthTransformToOptimize(n) &&
           dynamic_cast<const DisplacementFieldTransform<TScalar, VDimension> *>(
             m_Composite.GetNthTransformConstPointer(n));
  }

  /** Whether the time stamps of all parts together tell of it. */
  bool
  IsTold() const
  {
    return m_IsTold;
  }

private:
  const CompositeType & m_Composite;
  SizeValueType         m_Count{ 0 };
  bool                  m_IsTold{ false };
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
