// SPDX-License-Identifier: Apache-2.0
#include "HeadPair.h"

#include "BrainPhantom.h"
#include "Head.h"

#include "itkCompositeTransform.h"

namespace example
{

HeadPair
MakeHeadPair(const Volume * head, const Labels * labels, std::uint32_t seed)
{
  HeadPair   pair;
  const auto affine = MakeTruth(GetCentre(FindHead(head)), seed);
  pair.deformation = MakeKnownDeformation(head, DeformationKind::BSpline, seed);
  pair.fixed = MakeDeformedPair(head, pair.deformation.transform).fixed;
  pair.moving = MakeMovingImage(head, affine, seed);
  if (labels != nullptr)
  {
    pair.fixedLabels = ResampleLabels(labels, pair.fixed, pair.deformation.transform);
    pair.movingLabels = ResampleLabels(labels, pair.moving, affine->GetInverseTransform());
  }
  // The transform that is added last is applied first.
  const auto truth = itk::CompositeTransform<double, 3>::New();
  truth->AddTransform(affine);
  truth->AddTransform(pair.deformation.transform);
  pair.truth = truth.GetPointer();
  return pair;
}

} // namespace example
