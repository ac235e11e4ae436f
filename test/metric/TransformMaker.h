// SPDX-License-Identifier: Apache-2.0
// Makes random linear transforms for a MetricCase.
#ifndef TransformMaker_h
#define TransformMaker_h

#include "MetricCase.h"
#include "TestImages.h"

#include "itkAffineTransform.h"
#include "itkEuler2DTransform.h"
#include "itkEuler3DTransform.h"
#include "itkScaleTransform.h"
#include "itkSimilarity2DTransform.h"
#include "itkSimilarity3DTransform.h"
#include "itkTranslationTransform.h"
#include "itkVersorRigid3DTransform.h"

namespace gpuregtest
{

/** Draws random linear transforms about a centre. */
template <unsigned int VDimension>
class TransformMaker
{
public:
  using TransformType = itk::Transform<double, VDimension, VDimension>;
  using PointType = itk::Point<double, VDimension>;
  using VectorType = itk::Vector<double, VDimension>;

  /** \param amount scales rotations, scales and shears, which are at most 0.08 for 1; \param reach the largest translation, mm. */
  TransformMaker(Random & random, const PointType & centre, double amount, const VectorType & reach)
    : m_Random(random)
    , m_Centre(centre)
    , m_Amount(0.08 * amount)
    , m_Reach(reach)
  {}

  typename TransformType::Pointer
  Make(Motion motion)
  {
    switch (motion)
    {
      case Motion::Translation:
      {
        const auto transform = itk::TranslationTransform<double, VDimension>::New();
        transform->Translate(MakeTranslation());
        return transform.GetPointer();
      }
      case Motion::Rigid:
      case Motion::Versor:
        return MakeRigid(motion == Motion::Versor);
      case Motion::Similarity:
        return MakeSimilarity();
      case Motion::Scale:
      {
        const auto transform = itk::ScaleTransform<double, VDimension>::New();
        transform->SetCenter(m_Centre);
        auto scale = transform->GetScale();
        for (unsigned int d = 0; d < VDimension; ++d)
        {
          scale[d] = 1.0 + Draw();
        }
        transform->SetScale(scale);
        return transform.GetPointer();
      }
      default:
        return MakeAffine();
    }
  }

  typename TransformType::Pointer
  MakeAffine()
  {
    const auto transform = itk::AffineTransform<double, VDimension>::New();
    transform->SetCenter(m_Centre);
    auto matrix = transform->GetMatrix();
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        matrix[r][c] += Draw();
      }
    }
    transform->SetMatrix(matrix);
    transform->SetTranslation(MakeTranslation());
    return transform.GetPointer();
  }

private:
  double
  Draw()
  {
    return Uniform(m_Random, -m_Amount, m_Amount);
  }

  VectorType
  MakeTranslation()
  {
    VectorType translation;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      translation[d] = Uniform(m_Random, -m_Reach[d], m_Reach[d]);
    }
    return translation;
  }

  typename TransformType::Pointer
  MakeRigid(bool versor)
  {
    if constexpr (VDimension == 2)
    {
      const auto transform = itk::Euler2DTransform<double>::New();
      transform->SetCenter(m_Centre);
      transform->SetAngle(Draw());
      transform->SetTranslation(MakeTranslation());
      return transform.GetPointer();
    }
    else if (versor)
    {
      const auto transform = itk::VersorRigid3DTransform<double>::New();
      SetVersor(*transform);
      return transform.GetPointer();
    }
    else
    {
      const auto transform = itk::Euler3DTransform<double>::New();
      transform->SetCenter(m_Centre);
      const double x = Draw(), y = Draw(), z = Draw();
      transform->SetRotation(x, y, z);
      transform->SetTranslation(MakeTranslation());
      return transform.GetPointer();
    }
  }

  typename TransformType::Pointer
  MakeSimilarity()
  {
    if constexpr (VDimension == 2)
    {
      const auto transform = itk::Similarity2DTransform<double>::New();
      transform->SetCenter(m_Centre);
      transform->SetAngle(Draw());
      transform->SetScale(1.0 + Draw());
      transform->SetTranslation(MakeTranslation());
      return transform.GetPointer();
    }
    else
    {
      const auto transform = itk::Similarity3DTransform<double>::New();
      SetVersor(*transform);
      transform->SetScale(1.0 + Draw());
      return transform.GetPointer();
    }
  }

  template <typename TVersorTransform>
  void
  SetVersor(TVersorTransform & transform)
  {
    transform.SetCenter(m_Centre);
    itk::Versor<double>    versor;
    itk::Vector<double, 3> axis;
    axis[0] = 0.6;
    axis[1] = -0.3;
    axis[2] = 0.7;
    versor.Set(axis, Draw());
    transform.SetRotation(versor);
    transform.SetTranslation(MakeTranslation());
  }

  Random &   m_Random;
  PointType  m_Centre;
  double     m_Amount;
  VectorType m_Reach;
};

} // namespace gpuregtest

#endif
